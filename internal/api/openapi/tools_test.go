package openapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTools checks the document with the linters that people use, and compiles the code
// that the generators write for Go and TypeScript with their default flags.
func TestTools(t *testing.T) {
	document := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(document, JSON(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("Redocly", func(t *testing.T) {
		t.Parallel()
		run(t, t.TempDir(), npm(t, "redocly"), "lint", "--extends=recommended", document)
	})
	t.Run("Spectral", func(t *testing.T) {
		t.Parallel()
		run(t, t.TempDir(), npm(t, "spectral"), "lint", "--fail-severity=error", "--ruleset="+here(t, "testdata/spectral.yaml"), document)
	})
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		run(t, folder, npm(t, "openapi-typescript"), document, "--output", "openapi.ts")
		copyFile(t, here(t, "testdata/consumer.ts"), filepath.Join(folder, "consumer.ts"))
		run(t, folder, npm(t, "tsc"), "--noEmit", "--strict", "--target", "es2022", "--lib", "es2022", "consumer.ts")
	})
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		run(t, folder, tool(t, "oapi-codegen"), "-package", "openapi", "-o", "openapi.go", document)
		for _, name := range []string{"go.mod", "go.sum"} {
			copyFile(t, here(t, "../../../tools/openapi/"+name), filepath.Join(folder, name))
		}
		run(t, folder, "go", "build", "-trimpath", ".")
	})
}

// tool is the path of a program that make installs.
func tool(t *testing.T, name string) string {
	t.Helper()
	path := here(t, "../../../bin/tools/"+name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed; run make openapi-tools, which fetches it from the npm registry or the Go proxy: %v", filepath.Base(name), err)
	}
	return path
}

func npm(t *testing.T, name string) string {
	t.Helper()
	return tool(t, "openapi/node_modules/.bin/"+name)
}

func here(t *testing.T, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a program that must succeed. It cannot reach the network: the linters would
// report their use and look for newer versions.
func run(t *testing.T, folder, program string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true",
		"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=readonly")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s %q: %v\n%.10000s", filepath.Base(program), arguments, err, output)
	}
}
