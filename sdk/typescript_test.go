package sdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/api/openapi"
)

// TestTypeScriptIsGenerated compares the generated code of the TypeScript SDK with the OpenAPI document.
func TestTypeScriptIsGenerated(t *testing.T) {
	t.Parallel()
	doc := successes(t)
	folder := t.TempDir()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "openapi.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, folder, npm(t, "openapi-typescript"), "openapi.json", "--empty-objects-unknown", "--output", "openapi.ts")
	types, err := os.ReadFile(filepath.Join(folder, "openapi.ts"))
	if err != nil {
		t.Fatal(err)
	}
	compareGenerated(t, "typescript/src/openapi.ts", types)
	compareGenerated(t, "typescript/src/operations.ts", operationTable(doc))
}

// TestTypeScript runs the tests of the TypeScript SDK that need no server, as ES modules and as CommonJS.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("typescript")); err != nil {
		t.Fatal(err)
	}
	node := interpreter(t, "node")
	if os.Getenv("FEEDMILL_LONG") == "" {
		run(t, folder, node, "tests/build.mjs", filepath.Join(filepath.Dir(npm(t, "tsc")), "../typescript"), ".", ".")
	} else {
		run(t, folder, "env", "PATH="+filepath.Dir(npm(t, "tsc"))+":"+os.Getenv("PATH"), interpreter(t, "npm"), "run", "build")
	}
	run(t, folder, node, "--test", "tests/json.test.mjs", "tests/transport.test.mjs", "tests/webhook.test.mjs", "tests/commonjs.test.cjs")
}

// TestTypeScriptTypes checks the types of the TypeScript SDK and of code that uses it.
func TestTypeScriptTypes(t *testing.T) {
	t.Parallel()
	run(t, "typescript", npm(t, "tsc"), "-p", "tests")
}

// npm is the path of a program that make installs.
func npm(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../bin/tools/openapi/node_modules/.bin/" + name)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%s is not installed; run make openapi-tools, which fetches it from the npm registry: %v", name, err)
	}
	return path
}

// successes is the OpenAPI document without responses that are errors, which the SDK throws, and without webhooks.
func successes(t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "webhooks")
	for _, item := range doc["paths"].(map[string]any) {
		for _, operation := range item.(map[string]any) {
			maps.DeleteFunc(operation.(map[string]any)["responses"].(map[string]any), func(status string, _ any) bool { return !strings.HasPrefix(status, "2") })
		}
	}
	return doc
}

// operationTable lists the method, the path and the kind of response of each operation.
func operationTable(doc map[string]any) []byte {
	var lines []string
	for path, item := range doc["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			operation := operation.(map[string]any)
			lines = append(lines, fmt.Sprintf("  %s: [%q, %q, %q],\n", operation["operationId"], strings.ToUpper(method), path, responseKind(operation["responses"].(map[string]any))))
		}
	}
	slices.Sort(lines)
	var b bytes.Buffer
	b.WriteString("/** Generated from the OpenAPI document. Do not edit. */\n\nexport const operationTable = {\n")
	b.WriteString(strings.Join(lines, ""))
	b.WriteString("} as const;\n")
	return b.Bytes()
}

// responseKind is none, list for pages, raw for rows and streams, and data for anything else. The first success decides.
func responseKind(responses map[string]any) string {
	response := responses[slices.Min(slices.Collect(maps.Keys(responses)))].(map[string]any)
	content, _ := response["content"].(map[string]any)
	headers, _ := response["headers"].(map[string]any)
	switch {
	case len(content) == 0:
		return "none"
	case content["text/csv"] != nil || content["application/json"] == nil:
		return "raw"
	case headers["Link"] != nil:
		return "list"
	}
	return "data"
}
