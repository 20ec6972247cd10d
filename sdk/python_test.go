package sdk

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/feedmill/feedmill/internal/api/openapi"
)

var update = flag.Bool("update", false, "write the generated files")

// TestPythonIsGenerated compares the generated code of the Python SDK with the OpenAPI document.
func TestPythonIsGenerated(t *testing.T) {
	t.Parallel()
	document := writeDocument(t)
	for kind, file := range map[string]string{"types": "python/feedmill/types.py", "operations": "python/feedmill/_operations.py"} {
		compareGenerated(t, file, run(t, ".", interpreter(t, "python3"), "-B", "python/generate.py", document, kind))
	}
}

// TestPython runs the tests of the Python SDK that need no server.
func TestPython(t *testing.T) {
	t.Parallel()
	output := run(t, "python", interpreter(t, "python3"), "-B", "-W", "error", "-m", "unittest", "discover", "-s", "tests")
	if !bytes.Contains(output, []byte("\nOK")) {
		t.Errorf("%s", output)
	}
}

// interpreter finds a program. Without it the test is skipped, or fails under CI=true.
func interpreter(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(name + " is not installed")
	}
	t.Skip(name + " is not installed; 'make setup' installs it")
	return ""
}

func writeDocument(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(name, openapi.JSON(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// compareGenerated compares a file with what was generated, or writes it with -update.
func compareGenerated(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the OpenAPI document; run 'go test ./sdk -update'", file)
	}
}

// run runs a program that must succeed and returns what it printed.
func run(t *testing.T, folder, program string, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%.10000s", filepath.Base(program), arguments, err, output)
	}
	return output
}
