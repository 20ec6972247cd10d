package spec

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestTemplate(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip(err)
	}
	m := Moment{Now: time.Date(2026, 3, 30, 1, 30, 15, 0, paris), Cursor: "a b/c?"}
	for text, want := range map[string]string{
		"":                                       "",
		"plain } text {":                         "plain } text {",
		"{{today}}":                              "2026-03-30",
		"{{ today - 7d | 02.01.2006}}":           "23.03.2026",
		"{{today-1d|2006-01-02T15:04:05-07:00}}": "2026-03-29T00:00:00+01:00",
		"{{today+1h}}":                           "2026-03-30",
		"{{now}}":                                "2026-03-30T01:30:15+02:00",
		"{{now-1h30m|15:04}}":                    "00:00",
		"{{now|unix}}-{{now|unixms}}":            "1774827015-1774827015000",
		"{{now|unixMs}}":                         "1774827015000",
		"{{today-1d|YYYYMMDD}}":                  "20260329",
		"{{now | YYYY-MM-DDTHH:mm:ssZ}}":         "2026-03-30T01:30:15+02:00",
		"{{now|rfc3339}} {{now|date}}":           "2026-03-30T01:30:15+02:00 2026-03-30",
		"{{today|2 Jan 2006}}":                   "30 Mar 2026",
		"x{{cursor}}y":                           "xa b/c?y",
	} {
		tmpl, err := parseTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := tmpl.Expand(m, nil); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"{{", "{{}}", "{{x|y}}", "{{today-}}", "{{today-1y}}", "{{today|}}", "{{cursor-1d}}", "{{cursor|x}}", "{{now|iso}}", "{{today|yyyymmdd}}", "{{today|}}"} {
		if _, err := parseTemplate(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	// In a URL a value stays where it is put.
	tmpl, _, err := parseURL("https://a.test/{{cursor}}/x?q={{cursor}}")
	if err != nil {
		t.Fatal(err)
	}
	if got := tmpl.Expand(m, EscapeInURL); got != "https://a.test/a%20b%2Fc%3F/x?q=a+b%2Fc%3F" {
		t.Error(got)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"{{today-7d|2006-01-02}}", "a{{cursor}}b", "{{now|unix}}{{", "https://a.test/{{now}}?x={{today+1d}}"} {
		f.Add(seed)
	}
	m := Moment{Now: time.Unix(1e9, 0).UTC(), Cursor: "/../?#&="}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := parseTemplate(text)
		if err != nil {
			return
		}
		if !strings.Contains(text, "{{") && tmpl.Expand(m, nil) != text {
			t.Fatalf("a text without tokens becomes %q", tmpl.Expand(m, nil))
		}
		tmpl, home, err := parseURL(text)
		if err != nil {
			return
		}
		u, err := url.Parse(tmpl.Expand(m, EscapeInURL))
		if err == nil && !SameOrigin(u, home) {
			t.Fatalf("%q leads to %s, not %s", text, u, home)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"request":{"url":"https://a.test/?api_key=x&y={{now}}"}}`))
	f.Add([]byte(`{"request":{"url":"https://a.test/"},"auth":{"kind":"bearer","token":"x"},"errors":[{"status":[404],"action":"ignore"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := Parse(body, 0)
		if err != nil {
			return
		}
		if _, err := Restore(d.SourceSpec(), d.Secrets(), feedmill.RulesCurrent); err != nil {
			t.Fatalf("%s cannot be restored from %s: %v", body, d.SourceSpec(), err)
		}
		again, err := Merge(d.Public(), d.Secrets(), []byte(`{}`), feedmill.RulesCurrent, 0)
		if err != nil || string(again.Public()) != string(d.Public()) || string(again.Secrets()) != string(d.Secrets()) {
			t.Fatalf("%s is not what it was: %s %v", d.Public(), again.Public(), err)
		}
	})
}
