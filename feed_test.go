package feedmill

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/strictjson"
	"github.com/google/go-cmp/cmp"
)

func TestTypesWithASource(t *testing.T) {
	for kind, want := range map[FeedType]bool{FeedREST: true, FeedQuery: true, FeedUpload: false, "": false} {
		if kind.HasSource() != want {
			t.Errorf("%q has a source: %v", kind, !want)
		}
	}
}

func TestFeedSwitch(t *testing.T) {
	at := time.Unix(1000, 0)
	f := Feed{
		ID: "df_1", Name: "n", State: FeedFailed, Version: 1, RowCount: 7, LastError: &FeedError{}, CreatedAt: at, UpdatedAt: at,
	}
	r := Refresh{ID: "rfr_1", Feed: "df_1", State: RefreshSucceeded}
	v := FeedVersion{
		Feed: "df_1", Number: 2, Rows: 3, Bytes: 4, ContentHash: "h", CreatedAt: at.Add(time.Hour),
		Columns: []Column{{ID: "c1"}}, Warnings: []Warning{{Code: WarnNoRows}},
	}
	f.Switch(v, r)
	want := Feed{
		ID: "df_1", Name: "n", State: FeedReady, Version: 2, LastColumn: 1, RowCount: 3, ByteSize: 4, ContentHash: "h",
		Columns: v.Columns, Warnings: v.Warnings, LastRefresh: &r, Recent: "c", CreatedAt: at, UpdatedAt: v.CreatedAt,
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFeedRecord(t *testing.T) {
	before, because := &FeedError{Title: "before"}, &FeedError{Title: "because"}
	for _, test := range []struct {
		from    FeedState
		refresh RefreshState
		to      FeedState
		err     *FeedError
	}{
		{FeedPending, RefreshRunning, FeedRefreshing, before},
		{FeedRefreshing, RefreshSucceeded, FeedReady, nil},
		{FeedRefreshing, RefreshFailed, FeedFailed, because},
		{FeedAuthRequired, RefreshSucceeded, FeedReady, nil},
		{FeedPaused, RefreshRunning, FeedPaused, before},
		{FeedPaused, RefreshSucceeded, FeedPaused, nil},
		{FeedPaused, RefreshFailed, FeedPaused, because},
	} {
		f := Feed{State: test.from, Version: 3, LastError: before}
		f.Record(Refresh{ID: "rfr_1", State: test.refresh, Error: because})
		if f.State != test.to || f.LastError != test.err || f.LastRefresh.ID != "rfr_1" || f.Version != 3 {
			t.Errorf("%s after a refresh that is %s: %+v", test.from, test.refresh, f)
		}
	}
}

func TestPausedReason(t *testing.T) {
	for _, test := range []struct {
		feed Feed
		want string
	}{
		{Feed{State: FeedFailed, Failures: 20}, ""},
		{Feed{State: FeedPaused, Failures: 3}, "user"},
		{Feed{State: FeedPaused, Failures: MaxFailures}, "failures"},
	} {
		if got := test.feed.PausedReason(); got != test.want {
			t.Errorf("%s with %d failures is paused because of %q, want %q", test.feed.State, test.feed.Failures, got, test.want)
		}
	}
}

func TestReadMode(t *testing.T) {
	many := `"` + strings.Join(strings.Split(strings.Repeat("x", maxKey+1), ""), `1","`) + `"`
	var allowed []string
	for i := range maxKey {
		allowed = append(allowed, fmt.Sprint("c", i))
	}
	for _, test := range []struct {
		text        string
		incremental bool
		mode        FeedMode
		key         []string
		faults      []string
	}{
		{`{}`, false, ModeReplace, nil, nil},
		{`{}`, true, ModeAppend, nil, nil},
		{`{"key":["id"]}`, false, ModeReplace, []string{"id"}, nil},
		{`{"key":["id","at"]}`, true, ModeMerge, []string{"id", "at"}, nil},
		{`{"mode":"append","key":["id"]}`, true, ModeAppend, []string{"id"}, nil},
		{`{"mode":"merge","key":["id"]}`, false, ModeMerge, []string{"id"}, nil},
		{`{"mode":"merge"}`, false, ModeMerge, nil, []string{"/key"}},
		{`{"mode":"add"}`, false, ModeReplace, nil, []string{"/mode"}},
		{`{"key":"id"}`, false, ModeReplace, nil, []string{"/key"}},
		{`{"key":["","id",1,"id"]}`, false, ModeReplace, []string{"id"}, []string{"/key/0", "/key/2", "/key/3"}},
		{`{"key":["` + strings.Join(allowed, `","`) + `"]}`, false, ModeReplace, allowed, nil},
		{`{"key":[` + many + `]}`, false, ModeReplace, nil, []string{"/key"}},
	} {
		var mode FeedMode
		var key []string
		faults := readObject(t, test.text, func(o *strictjson.Object) { mode, key = ReadMode(o, test.incremental) })
		if mode != test.mode || !slices.Equal(key, test.key) || !slices.Equal(faults, test.faults) {
			t.Errorf("%.60s, incremental %v: %s by %q, faults at %q", test.text, test.incremental, mode, key, faults)
		}
	}
}

func TestReadDescription(t *testing.T) {
	for text, want := range map[string]int{
		`{}`: 0, `{"description":null}`: 0, `{"description":"x"}`: 0, `{"description":1}`: 1, `{"description":"\u0000"}`: 1,
		`{"description":"` + strings.Repeat("ü", MaxDescription) + `"}`: 0, `{"description":"` + strings.Repeat("x", MaxDescription+1) + `"}`: 1,
	} {
		if faults := readObject(t, text, func(o *strictjson.Object) { ReadDescription(o) }); len(faults) != want {
			t.Errorf("%.40s: faults at %q, want %d", text, faults, want)
		}
	}
}

// Whoever takes rows as they come does so for the next refresh that ends.
func TestAcceptedOnce(t *testing.T) {
	for state, want := range map[RefreshState]bool{RefreshPending: true, RefreshRunning: true, RefreshSucceeded: false, RefreshFailed: false} {
		f := Feed{Expects: Expectations{Accept: true}}
		if f.Record(Refresh{State: state}); f.Expects.Accept != want {
			t.Errorf("after a refresh that is %s: accepted is %v, want %v", state, f.Expects.Accept, want)
		}
	}
}

func TestCutText(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"short":                       "short",
		"exactly ten":                 "exactly…",
		"12345678äö":                  "1234567…",
		"123456ääää":                  "123456…",
		"a\x00b":                      "a\ufffdb",
		"\xff\xfe":                    "\ufffd",
		"\x00\x00\x00\x00\x00":        "\ufffd\ufffd…",
		strings.Repeat("\xff", 1<<20): "\ufffd…",
	} {
		if got := CutText(text, 10); got != want || len(got) > 10 {
			t.Errorf("CutText(%.20q) = %q, want %q", text, got, want)
		}
	}
}
