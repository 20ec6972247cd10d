package manual

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/api/openapi"
)

// sdkSamples are the examples of all operations in the languages of the SDKs.
func sdkSamples(t *testing.T) (typeScript, python map[string]string) {
	t.Helper()
	var d document
	if err := json.Unmarshal(openapi.JSON(), &d); err != nil {
		t.Fatal(err)
	}
	typeScript, python = make(map[string]string), make(map[string]string)
	for at, methods := range d.Paths {
		for _, raw := range methods {
			var o described
			if err := json.Unmarshal(raw, &o); err != nil {
				t.Fatal(err)
			}
			typeScript[o.OperationID], python[o.OperationID] = d.typeScript(at, o), d.python(at, o)
		}
	}
	return typeScript, python
}

// TestTypeScriptSamples checks the types of the examples.
func TestTypeScriptSamples(t *testing.T) {
	t.Parallel()
	samples, _ := sdkSamples(t)
	sdk, err := filepath.Abs("../../sdk/typescript")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "import type { Client } from %q;\ndeclare const client: Client;\ndeclare function openAsBlob(path: string): Promise<Blob>;\n", sdk+"/src/index.js")
	for _, id := range slices.Sorted(maps.Keys(samples)) {
		fmt.Fprintf(&b, "export async function %s_() {\n%s\n}\n", id, samples[id])
	}
	folder := t.TempDir()
	config := fmt.Sprintf(`{"extends":%q,"compilerOptions":{"noEmit":true,"rootDir":"/"},"include":["samples.ts"]}`, sdk+"/tsconfig.json")
	for name, text := range map[string]string{"samples.ts": b.String(), "tsconfig.json": config, "package.json": `{"type":"module"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tsc := "../../bin/tools/openapi/node_modules/.bin/tsc"
	if _, err := os.Stat(tsc); err != nil {
		t.Fatalf("tsc is not installed; run make openapi-tools, which fetches it from the npm registry: %v", err)
	}
	if output, err := exec.CommandContext(t.Context(), tsc, "-p", folder).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// bindSamples runs examples with a client whose methods only check their arguments.
const bindSamples = `
import builtins, inspect, io, json, sys
from unittest import mock
import feedmill

class Recorder:
    def __getattr__(self, name):
        method = inspect.signature(getattr(feedmill.Client, name))
        def call(*args, **kwargs):
            method.bind(self, *args, **kwargs)
            self.calls += 1
            return mock.MagicMock()
        return call

for name, code in json.load(sys.stdin).items():
    client = Recorder()
    client.calls = 0
    with mock.patch.object(builtins, "open", lambda *_: io.BytesIO()):
        exec(compile(code, name, "exec"), {"client": client})
    assert client.calls == 1, name
`

// TestPythonSamples runs the examples and checks the arguments of their calls.
func TestPythonSamples(t *testing.T) {
	t.Parallel()
	_, samples := sdkSamples(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is not installed")
		}
		t.Skip("python3 is not installed; 'make setup' installs it")
	}
	text, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, "-B", "-c", bindSamples)
	command.Env = append(os.Environ(), "PYTHONPATH=../../sdk/python")
	command.Stdin = strings.NewReader(string(text))
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
