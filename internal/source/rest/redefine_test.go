package rest

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestRedefinedFeedsAreFetchedAgain holds what each change of a definition calls for.
func TestRedefinedFeedsAreFetchedAgain(t *testing.T) {
	s := NewSource(Options{CheckURL: func(*url.URL) error { return nil }})
	def, err := s.Define([]byte(`{"request":{"url":"https://a.test/"},"auth":{"kind":"bearer","token":"old"},"schedule":{"every":"1h"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for patch, want := range map[string]feedmill.FetchAgain{
		`{"name":"new"}`:                                        feedmill.FetchAsPlanned,
		`{"schedule":{"every":"2h"}}`:                           feedmill.FetchAsPlanned,
		`{"auth":{"kind":"bearer","token":"new"}}`:              feedmill.FetchFailed,
		`{"auth":null}`:                                         feedmill.FetchFailed,
		`{"tls":null}`:                                          feedmill.FetchFailed,
		`{"response":{"path":"$.a"}}`:                           feedmill.FetchAnew,
		`{"response":{"path":"$.a"},"auth":null,"name":"also"}`: feedmill.FetchAnew,
	} {
		_, again, err := s.Redefine(feedmill.Feed{Spec: def.Spec, Rules: def.Rules}, def.Source.Secrets, []byte(patch))
		if err != nil || again != want {
			t.Errorf("%s: %d, %v, want %d", patch, again, err, want)
		}
	}
}

// TestUpstreamOfPositions holds that the first version of a feed upstream is known like any other.
func TestUpstreamOfPositions(t *testing.T) {
	s := NewSource(Options{})
	for version, known := range map[int64]bool{0: false, 1: true, 2: true} {
		at := fmt.Sprintf(`{"upstream":%d,"upstreamId":"df_1"}`, version)
		if up := s.Upstream([]byte(at)); (len(up) == 1) != known || known && (up[0].Version != version || up[0].ID != "df_1") {
			t.Errorf("version %d is %+v", version, up)
		}
	}
}
