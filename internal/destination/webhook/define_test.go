package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Extra headers stay with a URL of the same origin, and go with none other.
func TestSameOrigin(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"https://a.test/x", "https://A.TEST:443/y?z", true},
		{"http://a.test", "http://a.test:80", true},
		{"http://a.test:81", "http://a.test", false},
		{"http://a.test", "https://a.test", false},
		{"http://a.test:443", "https://a.test", false},
		{"https://a.test", "https://b.test", false},
		{"https://a.test", "%", false},
		{"%", "https://a.test", false},
		{"%", "%", false},
	} {
		if got := sameOrigin(test.a, test.b); got != test.want {
			t.Errorf("%s and %s are of one origin: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

// anyURL allows every URL but those of one host.
type anyURL struct{}

var errKind = errors.New("forbidden")

func (anyURL) CheckURL(u *url.URL) error {
	if u.Hostname() == "bad.test" {
		return fmt.Errorf("bad.test is not allowed: %w", errKind)
	}
	return nil
}

// field reads a text as a field of a document that notes its faults.
func field(t *testing.T, text string) (strictjson.Field, *feedmill.Faults) {
	t.Helper()
	faults := new(feedmill.Faults)
	v, ok := strictjson.Read([]byte(`{"x":`+text+`}`), strictjson.Part{}, faults.Note)
	if !ok {
		t.Fatalf("%s is no JSON", text)
	}
	f, _ := strictjson.NewObject(&v, "", faults.Note).Get("x")
	return f, faults
}

func TestReadURL(t *testing.T) {
	k := &Kind{URLs: anyURL{}}
	const base = "https://a.test/"
	for text, want := range map[string]string{
		base + "hook?x=~!": "", base + strings.Repeat("x", feedmill.MaxSubscriptionURL-len(base)): "",
		base + strings.Repeat("x", feedmill.MaxSubscriptionURL-len(base)+1): "at most 2048 bytes",
		base + " x": "must be an ASCII URL", base + "\u007f": "must be an ASCII URL", base + "ü": "must be an ASCII URL", "https://a.test:x": "must be an ASCII URL",
		"https://me@a.test/": "user name", base + "#": "fragment", "https://bad.test/": "is not valid: bad.test is not allowed.",
	} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		f, faults := field(t, string(quoted))
		_, ok := k.readURL(f)
		if ok != (want == "") || len(faults.List) > 1 || !ok && !strings.Contains(faults.List[0].Detail, want) {
			t.Errorf("%.60q: %v, %+v, want %q", text, ok, faults.List, want)
		}
	}
}

func TestOwnHeaders(t *testing.T) {
	for name, want := range map[string]bool{
		"Host": true, "Webhook-Id": true, "X-Service-Signature": true, "X-Service": false, "Hosts": false, "Authorization": false, "Te": true, "Tea": false,
	} {
		if got := isOwnHeader(name); got != want {
			t.Errorf("%s is ours: %v, want %v", name, got, want)
		}
	}
}

func TestHeadersChange(t *testing.T) {
	text := func(s string) *string { return &s }
	many := func(n int) map[string]*string {
		set := make(map[string]*string)
		for i := range n {
			set[fmt.Sprintf("H-%02d", i)] = text("")
		}
		return set
	}
	old := map[string]string{"A": "1", "B": "2"}
	for _, test := range []struct {
		name   string
		old    map[string]string
		change headerChange
		want   []string // names and values
		faults int
	}{
		{"none", old, headerChange{}, []string{"A1", "B2"}, 0},
		{"where there are none", nil, headerChange{set: map[string]*string{"A": text("1")}}, []string{"A1"}, 0},
		{"set, kept and removed", old, headerChange{set: map[string]*string{"A": text("***"), "B": nil, "C": text("3")}}, []string{"A1", "C3"}, 0},
		{"all others gone", old, headerChange{clear: true, set: map[string]*string{"C": text("3")}}, []string{"C3"}, 0},
		{"kept and not there", old, headerChange{set: map[string]*string{"C": text("***")}}, []string{"A1", "B2"}, 1},
		{"kept and gone", old, headerChange{clear: true, set: map[string]*string{"A": text("***")}}, nil, 1},
		{"as many as may be", nil, headerChange{set: many(feedmill.MaxExtraHeaders)}, nil, 0},
		{"too many", nil, headerChange{set: many(feedmill.MaxExtraHeaders + 1)}, nil, 1},
		{"as long as may be", nil, headerChange{set: map[string]*string{"A": text(strings.Repeat("x", feedmill.MaxExtraHeaderBytes-1))}}, nil, 0},
		{"too long", nil, headerChange{set: map[string]*string{"A": text(strings.Repeat("x", feedmill.MaxExtraHeaderBytes))}}, nil, 1},
	} {
		var faults feedmill.Faults
		changed := test.change.apply(test.old, &faults)
		var got []string
		for _, name := range slices.Sorted(maps.Keys(changed)) {
			got = append(got, name+changed[name])
		}
		if len(faults.List) != test.faults || test.want != nil && !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, faults %+v", test.name, got, faults.List)
		}
	}
	if len(old) != 2 {
		t.Errorf("the old headers are %v now", old)
	}
}
