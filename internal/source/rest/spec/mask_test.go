package spec

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// No secret of a spec is in what is shown of a URL or a text, in whatever form.
func TestMaskLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Z!"#$%&'()*+,/:;=?@ -]{5,20}Q[0-9]{3}`).Draw(t, "secret")
		m := NewMask(&Spec{Auth: &APIKey{Name: "n", Value: secret}})
		for _, text := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")} {
			if shown := m.Text("a=" + text + "&b"); strings.Contains(shown, text) {
				t.Fatalf("%s is in %s", text, shown)
			}
		}
		u := &url.URL{Scheme: "https", Host: "a.test", Path: "/" + secret, RawQuery: "x=" + url.QueryEscape(secret)}
		if shown := m.URL(u); strings.Contains(shown, secret[len(secret)-4:]) {
			t.Fatalf("%s is in %s", secret, shown)
		}
	})
}

// Some sources escape more of a text than they have to, and some put what they got into a
// text of theirs.
func TestMaskKnowsEscapes(t *testing.T) {
	m := NewMask(&Spec{Auth: &Bearer{Token: `s3/crét"\\𝄞-end`}})
	inner, _ := json.Marshal(map[string]string{"token": `s3/crét"\\𝄞-end`})
	outer, _ := json.Marshal(string(inner))
	for _, text := range []string{
		string(inner), string(outer), `"s3\/crét\"\\\\𝄞-end"`, `"s3\/cr\u00e9t\"\\\\\ud834\udd1e-end"`, `"s3/cr\u00e9t\"\\\\\ud834\udd1e-end"`,
	} {
		if shown := m.Text(text); strings.Contains(shown, "end") || !strings.Contains(shown, hidden) {
			t.Error(text, shown)
		}
	}
}

// TestMaskKnowsAllForms holds that secrets are hidden that are numbers, and that are encoded in a URL.
func TestMaskKnowsAllForms(t *testing.T) {
	for definition, said := range map[string][]string{
		`{"request":{"url":"https://a.test/"},"auth":{"kind":"login","request":{"url":"https://id.test/","body":{"kind":"json","value":{"pin":482913,"more":[{"code":"s3cret"}]}}},"tokenPath":"$.t"}}`: {"482913", "s3cret"},
		`{"request":{"url":{"secret":"https://a.test/of%20me/rows?sig=ab%2Bcd"}}}`: {"of me", "of%20me", "ab+cd", "ab%2Bcd"},
	} {
		d, err := Parse([]byte(definition), 0)
		if err != nil {
			t.Fatalf("%s: %v", definition, err)
		}
		m := NewMask(d.Spec)
		for _, secret := range said {
			if got := m.Text("it is " + secret + " here"); strings.Contains(got, secret) {
				t.Errorf("%s shows %s", got, secret)
			}
		}
	}
}

// TestSecretsInURLs holds that the name of a parameter is judged as it is written and as it is read.
func TestSecretsInURLs(t *testing.T) {
	for query, want := range map[string]bool{"token=1": true, "page=1&t%6Fken=1": true, "token%zz=1": true, "page=1": false, "": false} {
		if got := holdsSecret("https://a.test/?" + query); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}
