// Builds the package for tests as `npm run build` does, without types and without checking them.
// Usage: node build.mjs <folder of the typescript package> <folder of the SDK> <output folder>
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [typescript, source, output] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(typescript);
const target = ts.ScriptTarget.ES2022;
for (const [folder, module] of [["esm", ts.ModuleKind.ESNext], ["cjs", ts.ModuleKind.CommonJS]]) {
  mkdirSync(join(output, "dist", folder), { recursive: true });
  for (const name of readdirSync(join(source, "src"))) {
    if (name === "openapi.ts") continue; // it has only types
    const { outputText } = ts.transpileModule(readFileSync(join(source, "src", name), "utf8"), { compilerOptions: { module, target, isolatedModules: true } });
    writeFileSync(join(output, "dist", folder, name.replace(/\.ts$/, ".js")), outputText);
  }
}
writeFileSync(join(output, "dist", "cjs", "package.json"), '{"type":"commonjs"}');
writeFileSync(join(output, "package.json"), readFileSync(join(source, "package.json")));
