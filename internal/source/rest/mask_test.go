package rest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// No secret of a spec is in what is shown of a URL or a text, in whatever form.
func TestMaskLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Z!"#$%&'()*+,/:;=?@ -]{5,20}Q[0-9]{3}`).Draw(t, "secret")
		m := newMask(&Spec{auth: &apiKey{name: "n", value: secret}})
		for _, text := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")} {
			if shown := m.text("a=" + text + "&b"); strings.Contains(shown, text) {
				t.Fatalf("%s is in %s", text, shown)
			}
		}
		u := &url.URL{Scheme: "https", Host: "a.test", Path: "/" + secret, RawQuery: "x=" + url.QueryEscape(secret)}
		if shown := m.url(u); strings.Contains(shown, secret[len(secret)-4:]) {
			t.Fatalf("%s is in %s", secret, shown)
		}
	})
}

// A source that says the secrets back does not get them into the trace or the
// error.
func TestEchoedSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/rows" {
				http.Redirect(w, r, "/echo?said="+url.QueryEscape(r.Header.Get("Authorization"))+"&and="+r.URL.Query().Get("api_key"), http.StatusFound)
				return
			}
			text, _ := json.Marshal(map[string]string{"error": r.Header.Get("Authorization") + " " + r.URL.RawQuery + r.Header.Get("X-Token")})
			respond(w, string(text))
		})
		_, _, err := l.fetch(`{"request":{"url":"https://api.test/rows?api_key=s3cret-a","headers":{"X-Token":"s3cret-b"}},"auth":{"kind":"basic","username":"me","password":"s3cret-c"},
			"errors":[{"bodyPath":"$.error","action":"fail"}]}`)
		trace := l.trace() + err.Error()
		if !strings.Contains(trace, "/echo?said=Basic+***&and=***") || strings.Contains(trace, "s3cret") || strings.Contains(trace, "bWU6") {
			t.Error(trace)
		}
	})
}

// Some sources escape more of a text than they have to, and some put what they got into a
// text of theirs.
func TestMaskKnowsEscapes(t *testing.T) {
	m := newMask(&Spec{auth: &bearer{token: `s3/crét"\\𝄞-end`}})
	inner, _ := json.Marshal(map[string]string{"token": `s3/crét"\\𝄞-end`})
	outer, _ := json.Marshal(string(inner))
	for _, text := range []string{
		string(inner), string(outer), `"s3\/crét\"\\\\𝄞-end"`, `"s3\/cr\u00e9t\"\\\\\ud834\udd1e-end"`, `"s3/cr\u00e9t\"\\\\\ud834\udd1e-end"`,
	} {
		if shown := m.text(text); strings.Contains(shown, "end") || !strings.Contains(shown, hidden) {
			t.Error(text, shown)
		}
	}
}

// What is a secret by its name in a form is not shown, however short it is.
func TestFormsAreMasked(t *testing.T) {
	m := newMask(&Spec{auth: &clientCredentials{oauthClient: oauthClient{id: "me", secret: "b"}}})
	request, err := http.NewRequest("POST", "https://api.test/token", strings.NewReader("client_id=me&client_secret=b&grant_type=client_credentials"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if shown := m.request(request).Body; shown != "client_id=me&client_secret=***&grant_type=client_credentials" {
		t.Error(shown)
	}
}
