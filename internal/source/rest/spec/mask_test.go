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
