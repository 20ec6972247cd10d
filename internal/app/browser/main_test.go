// Package browser tests the pages as people use them: in a real browser, against
// a whole server. There is one of each for all tests.
package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/app"
	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/connect/connecttest"
	"github.com/feedmill/feedmill/internal/lake/worker"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// server is what all tests use.
var server struct {
	url, key, link string
	// provider is where people sign in for the service ledgerly, and app the
	// application that they come back to, whose pages may call the API.
	provider *connecttest.Provider
	app      *httptest.Server
	pages    http.ServeMux
	// browser is the context of the browser.
	browser context.Context
}

// TestMain is a worker of the server where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := worker.Main(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testPages(m))
}

// testPages starts the server and the browser for the tests. Without a browser there is
// nothing to test here, which CI does not put up with.
func testPages(m *testing.M) int {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Println("the pages are not tested: there is no chromium; scripts/setup installs it")
		if os.Getenv("CI") == "true" {
			return 1
		}
		return 0
	}
	stop, err := startServer()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	ctx, cancel := chromedp.NewContext(allocated)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server.browser = ctx
	return m.Run()
}

// startServer runs a server on a new folder, which reaches this machine alone.
func startServer() (stop func(), err error) {
	data, err := os.MkdirTemp("", "feedmill-pages-")
	if err != nil {
		return nil, err
	}
	endProvider := startProvider()
	services := filepath.Join(data, "services")
	if err := os.Mkdir(services, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(services, "ledgerly.yaml"), []byte(server.provider.Manifest("ledgerly")), 0o600); err != nil {
		return nil, err
	}
	// The provider is told where people come back to, so that is known before.
	address := fmt.Sprint("127.0.0.1:", pgtest.FreePort())
	c, err := config.Load("", []string{
		"FEEDMILL_LISTEN=" + address, "FEEDMILL_DATA=" + data, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_RETRY_SCHEDULE=24h",
		"FEEDMILL_PUBLIC_URL=http://" + address, "FEEDMILL_SERVICES_DIR=" + services, "FEEDMILL_CONNECT_REDIRECTS=" + server.app.URL, "FEEDMILL_CORS_ORIGINS=" + server.app.URL, "FEEDMILL_PORTAL_ORIGINS=" + server.app.URL,
		`FEEDMILL_PORTAL={"name":"Nordlicht","accent":"#0b6e5a","logo":"data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAyNCI+PHBhdGggZD0iTTEyIDBsMyA5IDkgMy05IDMtMyA5LTMtOS05LTMgOS0zeiIgZmlsbD0iIzBiNmU1YSIvPjwvc3ZnPg=="}`,
		"FEEDMILL_SERVICE_CLIENTS=ledgerly=" + connecttest.ClientID + ":" + connecttest.ClientSecret,
		"FEEDMILL_OIDC_ISSUER=" + server.provider.URL, "FEEDMILL_OIDC_AUDIENCE=feedmill-api",
		"FEEDMILL_OIDC_CLIENT_ID=" + connecttest.ClientID, "FEEDMILL_OIDC_CLIENT_SECRET=" + connecttest.ClientSecret,
	}, nil)
	if err != nil {
		return nil, err
	}
	a, err := app.Open(context.Background(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := a.Serve(ctx, "test", write)
		write.CloseWithError(errors.Join(errors.New("the server ended"), err))
		ended <- errors.Join(err, a.Close())
	}()
	stop = func() {
		cancel()
		<-ended
		endProvider()
		os.RemoveAll(data)
	}
	lines := bufio.NewScanner(read)
	find := func(pattern string) string {
		expr := regexp.MustCompile(pattern)
		for lines.Scan() {
			if m := expr.FindStringSubmatch(lines.Text()); m != nil {
				return m[1]
			}
		}
		return ""
	}
	server.url, server.key, server.link = find(`listening on (\S+)`), find(`^\s+(fm_\S+)`), find(`^\s+(http\S+/ui/first\S+)`)
	go io.Copy(io.Discard, read)
	if server.link == "" {
		stop()
		return nil, errors.New("the server printed no link")
	}
	return stop, nil
}

// admin is the client of the first key.
func admin() *client.Client { return client.New(server.url, server.key) }

// workspace makes a workspace and a key of every scope in it, so that a test is
// alone with what it makes.
func workspace(t *testing.T) (*client.Client, string) {
	t.Helper()
	w, err := admin().CreateWorkspace(t.Context(), strings.ReplaceAll(t.Name(), "/", " "))
	if err != nil {
		t.Fatal(err)
	}
	k, err := admin().CreateKey(t.Context(), client.NewKey{Name: "ops-console", Scopes: []string{"api:read", "api:write", "events:publish", "admin"}, WorkspaceID: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	return client.New(server.url, k.Secret), k.Secret
}

// upload makes a feed of a file.
func upload(t *testing.T, c *client.Client, name, file, data string) client.DataFeed {
	t.Helper()
	format := file[strings.LastIndexByte(file, '.')+1:]
	f, err := c.CreateDataFeed(t.Context(), client.Upload{Name: name, Data: strings.NewReader(data), Format: format, FileName: file})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// get asks for a page as a browser without scripts does.
func get(t *testing.T, path string, cookies ...*http.Cookie) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// patience bounds every wait for something that is sure to come.
var patience = longOr(3*time.Minute, 10*time.Minute)
