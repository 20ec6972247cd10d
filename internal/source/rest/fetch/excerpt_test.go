package fetch

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

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

// What is a secret by its name in a form is not shown, however short it is.
func TestFormsAreMasked(t *testing.T) {
	m := spec.NewMask(&spec.Spec{Auth: &spec.ClientCredentials{OAuthClient: spec.OAuthClient{ID: "me", Secret: "b"}}})
	request, err := http.NewRequest("POST", "https://api.test/token", strings.NewReader("client_id=me&client_secret=b&grant_type=client_credentials"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if shown := shownRequest(m, request).Body; shown != "client_id=me&client_secret=***&grant_type=client_credentials" {
		t.Error(shown)
	}
}
