package webhook

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/strictjson"
)

func TestClashesWithPayload(t *testing.T) {
	for text, want := range map[string]bool{
		"https://h/": false, "https://h/payload": false, "https://h/?payloads=1": false, "https://h/?a=payload": false, "https://h/?PAYLOAD=1": false,
		"https://h/?payload=1": true, "https://h/?payload": true, "https://h/?a=1&payload=": true, "https://h/?%70%61yload=1": true, "https://h/?a?payload=1": false, "https://h/?&&payload": true,
	} {
		if got := clashesWithPayload(text, http.MethodGet); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if clashesWithPayload(text, http.MethodPost) {
			t.Errorf("%s clashes with POST", text)
		}
	}
}

func FuzzSubscriptionURL(f *testing.F) {
	policy, err := egress.NewPolicy([]string{"hook.internal"})
	if err != nil {
		f.Fatal(err)
	}
	k := &Kind{URLs: policy}
	for _, seed := range []string{
		"https://example.com/hook", "http://hook.internal/", "http://example.com", "https://u:p@h/", "https://h/#f", "https://h/?payload=1", "//h", "https://[::1]/", "https://h:0x1/",
		"https://h\\@evil/", "https://h%2f/", "HTTPS://H/", "https://h?#", "https://h/%00", "https://\u00fc.example/", "javascript:1", "https://:", "https://h:",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var faults feedmill.Faults
		given := strictjson.String(text)
		text = given.Text() // what is no UTF-8 does not come this far
		_, fine := k.readURL(strictjson.NewObject(nil, "", faults.Note).Field("url", &given))
		if fine != (len(faults.List) == 0) {
			t.Fatalf("%q: fine is %v, faults are %v", text, fine, faults.List)
		}
		for _, fault := range faults.List {
			if fault.Pointer != "/url" {
				t.Fatalf("%q: the fault is at %q", text, fault.Pointer)
			}
		}
		if !fine {
			return
		}
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.Fragment != "" ||
			len(text) > feedmill.MaxSubscriptionURL || strings.ContainsAny(text, "# \t\r\n\x00") {
			t.Fatalf("%q passed as %+v, %v", text, u, err)
		}
		if r, err := http.NewRequest("POST", text, nil); err != nil || r.URL.Hostname() != u.Hostname() {
			t.Fatalf("%q passed, and no request can be made of it: %v", text, err)
		}
	})
}
