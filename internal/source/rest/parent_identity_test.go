package rest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// Rows of several parents that could be taken for each other are refused where they
// are compared by their values, and nowhere else.
func TestMixedParentsAreRefused(t *testing.T) {
	const (
		since = `,"incremental":{"cursorPath":"$.at","param":{"name":"since"}}`
		days  = `,"incremental":{"step":"1d","start":"2026-01-01","format":"date","param":{"name":"from"}}`
		feed  = `{"feedId":"df_01jb3zv8k5f7q9w2x4y6z8a0bc"}`
	)
	s := NewSource(Options{CheckURL: func(*url.URL) error { return nil }})
	for _, test := range []struct {
		in, more string
		refused  bool
	}{
		{`{"values":[{"a":1},{"a":2}]}`, since, true},
		{feed, since, true},
		{feed, days, true},
		{feed, since + `,"mode":"append"`, true},
		{`{"request":{"url":"https://a.test/all"},"path":"$[*]"}`, since, true},
		{`{"values":[{"a":1}]}`, since, false},
		{feed, since + `,"key":["id"]`, false},
		{feed, `,"mode":"append"`, false},
		{feed, `,"mode":"append","incremental":null`, false},
		{feed, "", false},
	} {
		body := `{"request":{"url":"https://a.test/{{x.a}}"},"each":{"in":` + test.in + `,"as":"x"}` + test.more + `}`
		_, err := s.Define([]byte(body))
		if refusal, ok := err.(*feedmill.Error); ok != test.refused || ok && (len(refusal.Faults) != 1 || refusal.Faults[0].Pointer != "/each/include") {
			t.Errorf("%s: %v", body, err)
		}
		if _, err := s.Define([]byte(strings.Replace(body, `"as":"x"`, `"as":"x","include":["a"]`, 1))); err != nil {
			t.Errorf("with include, %s: %v", body, err)
		}
	}

	// What was defined before can be mended, and not be left as it is.
	old := `{"request":{"url":"https://a.test/{{x.a}}"},"each":{"in":` + feed + `,"as":"x"}` + since + `}`
	if _, _, err := s.Redefine(feedmill.Feed{Spec: []byte(old), Rules: feedmill.RulesFirst}, nil, []byte(`{"key":["id"]}`)); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Redefine(feedmill.Feed{Spec: []byte(old), Rules: feedmill.RulesFirst}, nil, []byte(`{"rateLimit":{"requests":1,"per":"1s"}}`)); err == nil {
		t.Error("a definition that mixes parents is taken")
	}
	if _, err := s.DefineFeed([]byte(`{"response":{"path":"$.a[*]"},"key":["id"]}`), []byte(old)); err != nil {
		t.Error(err)
	}
	_, err := s.DefineFeed([]byte(`{"response":{"path":"$.a[*]"}}`), []byte(old))
	if refusal, ok := err.(*feedmill.Error); !ok || refusal.Faults[0].Pointer != "/key" {
		t.Errorf("one more feed: %v", err)
	}
}
