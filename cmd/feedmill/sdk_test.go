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
	// program is the command that runs such a file.
	program func(t *testing.T, file string) []string
	tests   func(t *testing.T) []string
}

var sdks = map[string]sdk{
	"python": {
		folder: "../../sdk/python", language: "python", file: "example.py",
		program: func(t *testing.T, file string) []string {
			return append([]string{"env", "PYTHONPATH=" + absolute(t, "../../sdk/python"), "PYTHONDONTWRITEBYTECODE=1"}, interpreted("python3")(t, file)...)
		},
		tests: func(t *testing.T) []string { return []string{absolute(t, "../../sdk/python/tests/server.py")} },
	},
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
			program := s.program(t, filepath.Join(folder, s.file))
			t.Run("tests", func(t *testing.T) {
				t.Parallel()
				runProgram(t, env, append(program[:len(program)-1:len(program)-1], s.tests(t)...))
			})
			readme, err := os.ReadFile(filepath.Join(s.folder, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			t.Run("examples", func(t *testing.T) {
				var text strings.Builder
				for _, m := range regexp.MustCompile("(?s)\n\n```"+s.language+"\n(.*?)```\n").FindAllStringSubmatch(string(readme), -1) {
					text.WriteString(m[1])
				}
				if err := os.WriteFile(filepath.Join(folder, s.file), []byte(text.String()), 0o600); err != nil {
					t.Fatal(err)
				}
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
				if err := os.WriteFile(filepath.Join(folder, s.file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
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
