package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

func TestFirstLinkSignsInOnce(t *testing.T) {
	b := open(t)
	b.visit(server.link)
	if got := b.path(); got != "/ui/start" {
		t.Fatalf("the link leads to %s", got)
	}
	again := open(t)
	again.expected = []string{"422"}
	again.visit(server.link)
	again.sees("The link was already used")
}

func TestSignIn(t *testing.T) {
	_, key := workspace(t)
	b := open(t)
	b.expected = []string{"422"}
	b.visit("/")
	if got := b.path(); got != "/ui/sign-in" {
		t.Fatalf("a visitor is led to %s", got)
	}
	b.accessible("sign-in")
	b.do(chromedp.SendKeys("#key", "fm_not-a-key"), chromedp.Submit("#key"))
	b.sees("The key is unknown")
	b.accessible("sign-in-error")
	// With a deep link that was asked for before.
	b.visit("/ui/feeds?state=ready")
	b.do(chromedp.SendKeys("#key", key+"\r"), chromedp.WaitReady(".rail"))
	if got := b.path(); got != "/ui/feeds?state=ready" {
		t.Errorf("after the sign-in the page is %s", got)
	}
	if cookie := run(b, chromedp.Evaluate[string](`document.cookie`)); cookie != "" {
		t.Errorf("scripts can read the cookie %q", cookie)
	}
	b.do(chromedp.Click(".rail-out button"), chromedp.WaitReady("#key"))
	b.visit("/ui/feeds")
	if got := b.path(); !strings.HasPrefix(got, "/ui/sign-in") {
		t.Errorf("after signing out the page is %s", got)
	}
}

// TestSignInAtTheIssuer is somebody without a key, whom the policy of the pages lets go to
// the issuer and come back to the page that was wanted.
func TestSignInAtTheIssuer(t *testing.T) {
	b := open(t)
	b.visit("/ui/subscriptions")
	b.do(chromedp.Click(".at-issuer a"), chromedp.WaitReady("#allow"), chromedp.Click("#allow"), chromedp.WaitReady(".rail"))
	if got := b.path(); got != "/ui/subscriptions" {
		t.Errorf("after the sign-in the page is %s", got)
	}
	if cookie := run(b, chromedp.Evaluate[string](`document.cookie`)); cookie != "" {
		t.Errorf("scripts can read the cookie %q", cookie)
	}
}

func TestSessionEndsWithItsKey(t *testing.T) {
	c, _ := workspace(t)
	k, err := c.CreateKey(t.Context(), client.NewKey{Name: "short-lived", Scopes: []string{"api:read"}})
	if err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, k.Secret)
	if err := c.RevokeKey(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	b.visit("/ui/feeds")
	if got := b.path(); !strings.HasPrefix(got, "/ui/sign-in") {
		t.Errorf("after its key was revoked the session shows %s", got)
	}
}

func TestPagesKeepOthersOut(t *testing.T) {
	resp := get(t, "/ui/sign-in")
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
	} {
		if got := resp.Header.Get(name); !strings.Contains(got, want) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if strings.Contains(resp.Header.Get("Content-Security-Policy"), "unsafe") {
		t.Error("the policy allows something unsafe")
	}
	_, key := workspace(t)
	for _, path := range []string{"/ui/sign-in", "/ui/theme", "/sessions"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.url+path, strings.NewReader(`{"key":"`+key+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 {
			t.Errorf("a page of another origin gets %d and %v from %s", resp.StatusCode, resp.Cookies(), path)
		}
	}
}
