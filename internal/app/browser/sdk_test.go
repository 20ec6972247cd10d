package browser

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// sdkPage uses the TypeScript SDK in a page of another origin.
const sdkPage = `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><p id="out"></p><script type="module">
import { Client, verifyWebhook } from "./dist/esm/index.js";
const found = [];
try {
  const client = new Client(%q, %q);
  const body = new Blob(["id,total\n9007199254740993,1.50\n"], { type: "text/csv" });
  const feed = await client.createDataFeed({ query: { type: "dataUpload", name: "first" }, body });
  await client.createDataFeed({ query: { type: "dataUpload", name: "second" }, body: [{ n: 1 }] });
  for await (const row of client.rows(feed.id)) found.push(typeof row.id, row.id, row.total);
  for await (const { name } of client.listDataFeeds({ query: { limit: 1 } })) found.push(name);
  const payload = '{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","data":{}}';
  const key = await crypto.subtle.importKey("raw", new Uint8Array(32), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const at = Math.floor(Date.now() / 1000);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode("dlv_1." + at + "." + payload)));
  const headers = { "webhook-id": "dlv_1", "webhook-timestamp": String(at), "webhook-signature": "v1," + btoa(String.fromCharCode(...signature)) };
  const secret = "whsec_" + btoa("\0".repeat(32));
  found.push((await verifyWebhook(payload, headers, secret)).delivery);
  await verifyWebhook(payload + " ", headers, secret).catch((error) => found.push(error.name));
} catch (error) {
  found.push(error);
}
document.querySelector("#out").textContent = found.join(" ");
</script>`

// TestSDKInABrowser uses the TypeScript SDK from a page of another origin: rows, two pages of a list, and signatures.
func TestSDKInABrowser(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node is not installed")
		}
		t.Skip("node is not installed; 'make setup' installs it")
	}
	typescript, err := filepath.Abs("../../../bin/tools/openapi/node_modules/typescript")
	if err == nil {
		_, err = os.Stat(typescript)
	}
	if err != nil {
		t.Fatalf("TypeScript is not installed; run make openapi-tools, which fetches it from the npm registry: %v", err)
	}
	folder := t.TempDir()
	const sdk = "../../../sdk/typescript"
	if output, err := exec.CommandContext(t.Context(), node, sdk+"/tests/build.mjs", typescript, sdk, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	_, key := workspace(t)
	if err := os.WriteFile(filepath.Join(folder, "page.html"), fmt.Appendf(nil, sdkPage, server.url, key), 0o600); err != nil {
		t.Fatal(err)
	}
	server.pages.Handle("/sdk/", http.StripPrefix("/sdk/", http.FileServer(http.Dir(folder))))
	b := open(t)
	b.visit(server.app.URL + "/sdk/page.html")
	b.wait(`document.querySelector('#out').textContent === 'bigint 9007199254740993 1.50 second first dlv_1 SignatureError'`)
}
