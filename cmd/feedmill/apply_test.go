package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// writeConfiguration writes documents of all kinds to a folder, and returns it.
func writeConfiguration(t *testing.T, n int) string {
	t.Helper()
	folder := t.TempDir()
	var b strings.Builder
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "---\nkind: Connection\nname: c%d\nconnector: postgres\nconfig: {host: db.example, database: d, user: u, password: {file: planted.txt}, sslmode: verify-full}\n", i)
		case 1:
			fmt.Fprintf(&b, "---\nkind: Feed\nname: f%d\nrequest: {url: 'https://127.0.0.1:1/%d'}\nauth: {kind: bearer, token: {file: planted.txt}}\nschedule: {every: 30d}\n", i, i)
		default:
			fmt.Fprintf(&b, "---\nkind: Subscription\nname: s%d\nlabel: \"Hook: %d\"\nurl: https://127.0.0.1:1/%d\nevents: [metric.*]\ndelivery: {headers: {x-token: {file: planted.txt}}}\n", i, i, i)
		}
	}
	for name, text := range map[string]string{"all.yaml": b.String(), "planted.txt": planted + "\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// planted is a secret that must not appear in any output.
const planted = "pl4nted-secret"

// applyServer starts a server and returns it with the environment of its commands.
func applyServer(t *testing.T) (*process, *client.Client, []string) {
	p := serve(t, filepath.Join(t.TempDir(), "data"), "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8")
	key := p.mustFirstKey(t)
	return p, p.client(key), []string{"FEEDMILL_SERVER=" + p.url, "FEEDMILL_API_KEY=" + key}
}

func runCommand(t *testing.T, env []string, args ...string) (out string, code int) {
	t.Helper()
	cmd, err := command(t.Context(), t.TempDir(), env, args...)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := cmd.CombinedOutput() // the code tells
	if strings.Contains(string(text), planted) {
		t.Errorf("%v prints a secret", args)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// TestApplyAtScale holds that applying an export changes nothing, that plans need few requests,
// and that two applies at once create every object once.
func TestApplyAtScale(t *testing.T) {
	t.Parallel()
	n := longOr(20, 2000)
	p, c, env := applyServer(t)
	folder := writeConfiguration(t, n)
	type outcome struct {
		out  string
		code int
	}
	second := make(chan outcome)
	go func() {
		cmd, err := command(t.Context(), t.TempDir(), env, "apply", "-f", folder, "--set", "all")
		if err != nil {
			second <- outcome{err.Error(), -1}
			return
		}
		text, _ := cmd.CombinedOutput()
		second <- outcome{string(text), cmd.ProcessState.ExitCode()}
	}()
	out, code := runCommand(t, env, "apply", "-f", folder, "--set", "all")
	if other := <-second; code != 0 || other.code != 0 {
		t.Fatalf("two applies at once end with %d and %d:\n%s\n%s", code, other.code, out, other.out)
	}
	total := 0
	for _, kind := range feedmill.DefinitionKinds {
		for _, err := range paged(c, 0).Definitions(t.Context(), kind) {
			if err != nil {
				t.Fatal(err)
			}
			total++
		}
	}
	if total != n {
		t.Errorf("there are %d objects, want %d", total, n)
	}
	before, _ := runCommand(t, env, "export")
	exported := filepath.Join(t.TempDir(), "export.yaml")
	if err := os.WriteFile(exported, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := runCommand(t, env, "apply", "-f", exported); code != 0 || !strings.Contains(out, fmt.Sprintf(" 0 to change, 0 to delete, %d unchanged", n)) {
		t.Errorf("applying the export ends with %d:\n%.2000s", code, out)
	}
	if after, _ := runCommand(t, env, "export"); after != before {
		t.Error("the second export differs from the first")
	}

	// With the limit of 500 a page, 5,000 objects need 10 pages, and as many comparisons.
	documents, err := readDocuments([]string{folder})
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	transport := c.HTTP.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	c.HTTP.Transport = counted(func(r *http.Request) (*http.Response, error) {
		requests.Add(1)
		return transport.RoundTrip(r)
	})
	planned, err := (&planner{client: c, set: "all"}).plan(t.Context(), documents)
	if err != nil {
		t.Fatal(err)
	}
	if planned.changes() {
		t.Errorf("the plan has %d changes", planned.count(change))
	}
	if got, most := requests.Load(), int64(len(feedmill.DefinitionKinds)+2*n/500+1); got > most {
		t.Errorf("the plan of %d objects takes %d requests, want at most %d", n, got, most)
	}
	if log := p.stderr.String(); strings.Contains(log, planted) {
		t.Error("the log of the server has a secret")
	}
}

type counted func(*http.Request) (*http.Response, error)

func (f counted) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestApplyOutlivesKills kills an apply in the middle, after the server has created an object and
// before the apply knows. Repeated, it creates every object once.
func TestApplyOutlivesKills(t *testing.T) {
	t.Parallel()
	const n = 8
	p, c, env := applyServer(t)
	folder := writeConfiguration(t, n)
	to, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{1, 2, 2} {
		var created atomic.Int64
		reached := make(chan bool, 1)
		forward := httputil.NewSingleHostReverseProxy(to)
		forward.ModifyResponse = func(r *http.Response) error {
			if r.StatusCode == http.StatusCreated && created.Add(1) == at {
				reached <- true
				<-r.Request.Context().Done()
			}
			return nil
		}
		forward.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
		var lock client.ApplyLock
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/definitions/apply" && r.Method == http.MethodPost {
				text, _ := io.ReadAll(r.Body)
				json.Unmarshal(text, &lock)
				r.Body = io.NopCloser(bytes.NewReader(text))
			}
			forward.ServeHTTP(w, r)
		}))
		cmd, err := command(t.Context(), t.TempDir(), append(env, "FEEDMILL_SERVER="+proxy.URL), "apply", "-f", folder)
		if err != nil {
			t.Fatal(err)
		}
		applying, err := begin(cmd)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-reached:
		case <-applying.exited:
			t.Fatalf("the apply ended before it was killed:\n%s", applying.stderr.String())
		}
		applying.kill()
		proxy.Close()
		// The reservation of the killed apply would expire after 30 seconds.
		if err := c.EndApply(t.Context(), lock.Holder); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := runCommand(t, env, "apply", "-f", folder); code != 0 {
		t.Fatalf("the repeated apply ends with %d:\n%s", code, out)
	}
	total := 0
	for _, kind := range feedmill.DefinitionKinds {
		for d, err := range c.Definitions(t.Context(), kind) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(d.Name, "-") {
				t.Errorf("%s was created twice", d.Name)
			}
			total++
		}
	}
	if total != n {
		t.Errorf("there are %d objects, want %d", total, n)
	}
}
