package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// sdk is a client library for another language.
type sdk struct {
	folder string
	// language is that of the code blocks in its README.
	language string
	file     string // the name of a program that uses it
	// prepare makes the library available to programs in a folder, and returns the command that runs one.
	prepare func(t *testing.T, folder string) []string
	tests   string // the program with the tests
}

var sdks = map[string]sdk{
	"python": {folder: "../../sdk/python", language: "python", file: "example.py", prepare: preparePython, tests: "tests/server.py"},
	"node":   {folder: "../../sdk/typescript", language: "js", file: "example.mjs", prepare: prepareNode, tests: "tests/server.mjs"},
}

func preparePython(t *testing.T, folder string) []string {
	return []string{"env", "PYTHONPATH=" + absolute(t, "../../sdk/python"), "PYTHONPYCACHEPREFIX=" + filepath.Join(folder, "cache"), interpreted("python3")(t, "")[0]}
}

// prepareNode builds the package where programs in the folder find it.
func prepareNode(t *testing.T, folder string) []string {
	node := interpreted("node")(t, "")[0]
	typescript := absolute(t, "../../bin/tools/openapi/node_modules/typescript")
	if _, err := os.Stat(typescript); err != nil {
		t.Fatalf("TypeScript is not installed; run make openapi-tools, which fetches it from the npm registry: %v", err)
	}
	source := absolute(t, "../../sdk/typescript")
	runProgram(t, os.Environ(), []string{node, filepath.Join(source, "tests/build.mjs"), typescript, source, filepath.Join(folder, "node_modules/feedmill")})
	return []string{node}
}

// TestSDKs runs the tests of the SDKs, the examples of their READMEs and the receivers there against
// a server with two workspaces.
func TestSDKs(t *testing.T) {
	t.Parallel()
	server := serve(
		t, t.TempDir(), "FEEDMILL_BOOTSTRAP_KEY="+sharedFirstKey, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_LOG_LEVEL=error",
		"FEEDMILL_RETRY_SCHEDULE=100ms,200ms,500ms,1s,2s,4s,8s,15s,30s,60s",
	)
	workspace := must(t, http.StatusCreated, sharedFirstKey, server.url+"/workspaces", `{"name":"other"}`)["id"]
	other := must(t, http.StatusCreated, sharedFirstKey, server.url+"/keys", fmt.Sprintf(`{"name":"other","scopes":["api:read","api:write","events:publish"],"workspaceId":%q}`, workspace))["key"]
	env := append(
		os.Environ(), "FEEDMILL_SERVER="+server.url, "FEEDMILL_FLAKY="+flakyProxy(t, server.url), "FEEDMILL_API_KEY="+sharedFirstKey,
		fmt.Sprintf("FEEDMILL_KEYS=%s %s", sharedFirstKey, other), fmt.Sprintf("FEEDMILL_ROWS=%d", longOr(3_000, 1_000_000)),
	)
	for name, s := range sdks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			command := s.prepare(t, folder)
			program := append(slices.Clip(command), filepath.Join(folder, s.file))
			t.Run("tests", func(t *testing.T) {
				t.Parallel()
				tests := filepath.Join(folder, filepath.Base(s.tests))
				writeFile(t, tests, readText(t, filepath.Join(s.folder, s.tests)))
				runProgram(t, env, append(slices.Clip(command), tests))
			})
			readme := readText(t, filepath.Join(s.folder, "README.md"))
			t.Run("examples", func(t *testing.T) {
				var text strings.Builder
				for _, m := range regexp.MustCompile("(?s)\n\n```"+s.language+"\n(.*?)```\n").FindAllStringSubmatch(readme, -1) {
					text.WriteString(m[1])
				}
				writeFile(t, filepath.Join(folder, s.file), text.String())
				if output := runProgram(t, env, program); !strings.Contains(output, "9007199254740993 12.50 2026-11-15\n") || !strings.Contains(output, "limit limit must be") {
					t.Errorf("the examples printed\n%s", output)
				}
			})
			t.Run("receiver", func(t *testing.T) {
				receiver := receiver{name: name + "-sdk", file: s.file}
				text, ok := documentedReceivers(t, filepath.Join(s.folder, "README.md"))[receiver.name]
				if !ok {
					t.Fatal("the README does not have a receiver")
				}
				writeFile(t, filepath.Join(folder, s.file), text)
				for _, method := range []string{http.MethodPost, http.MethodGet} {
					t.Run(method, func(t *testing.T) {
						t.Parallel()
						newScene(t, server, receiver, program, method).play(t)
					})
				}
			})
		})
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runProgram runs a program that must succeed and returns what it printed.
func runProgram(t *testing.T, env, program []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
	cmd.Env = env
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%.10000s", program, err, output)
	}
	return string(output)
}

// flakyProxy is the address of a proxy that fails first. It responds 503 to the first request of a kind, and drops
// the response to the second one if that has an Idempotency-Key.
func flakyProxy(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := make(map[string]int)
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		kind := r.Method + " " + r.URL.String() + " " + key + " " + r.Header.Get("User-Agent")
		mu.Lock()
		seen[kind]++
		n := seen[kind]
		mu.Unlock()
		switch {
		case n == 1:
			w.Header().Set("Retry-After", "0")
			http.Error(w, `{"type":"/problems/unavailable","title":"Unavailable","status":503,"detail":"Retry."}`, http.StatusServiceUnavailable)
		case n == 2 && key != "":
			forward.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}
