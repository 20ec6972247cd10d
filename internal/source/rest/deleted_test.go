package rest

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// A fetch whose parents, pages or responses may not be all that there are is partial, also
// where a part of it was staged before.
func TestPartialFetches(t *testing.T) {
	for name, test := range map[string]struct {
		parents, page string
		status        int
		want          string
	}{
		"all":                 {`{"list":[{"k":1},{"k":2}]}`, `[{"id":1}]`, 200, ""},
		"more parents":        {`{"list":[{"k":1},{"k":2}],"has_more":true}`, `[{"id":1}]`, 200, "the source has more pages than were fetched"},
		"a parent is ignored": {`{"list":[{"k":1},{"k":2}]}`, `{}`, 404, "a rule of errors ignored a response"},
		"more pages":          {`{"list":[{"k":1},{"k":2}]}`, `{"data":[{"id":1}],"next":"x"}`, 200, "the source has more pages than were fetched"},
	} {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/parents":
				respond(w, test.parents)
			case "/1":
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.page)
			default:
				respond(w, `[{"id":2}]`)
			}
		})
		stage := t.TempDir() + "/stage"
		for range 2 {
			job := l.job(`{"request":{"url":"https://api.test/{{p.k}}"},"each":{"in":{"request":{"url":"https://api.test/parents"},"path":"$.list[*]"},"as":"p"},"errors":[{"status":[404],"action":"ignore"}]}`)
			job.Notes, job.Stage, job.Print, job.Close = new(notes), stage, "x", new([]io.Closer)
			result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
			if got := result.partial + job.Notes.partial(); err != nil || (got == "") != (test.want == "") || result.partial != test.want && job.Notes.partial() != test.want {
				t.Errorf("%s: %q and %q, %v", name, result.partial, job.Notes.partial(), err)
			}
			for _, c := range *job.Close {
				_ = c.Close()
			}
		}
	}
}

// Another feed of a source deletes by its own key.
func TestDeletesOfAnotherFeed(t *testing.T) {
	s := NewSource(Options{})
	source := []byte(`{"request":{"url":"https://api.test/"},"incremental":{"cursorPath":"$.at","param":{"name":"since"}},"fullEvery":"7d"}`)
	def, err := s.DefineFeed([]byte(`{"response":{"path":"$.lines[*]"},"key":["id"],"deleted":{"flag":"gone"}}`), source)
	if err != nil || def.Mode != feedmill.ModeMerge {
		t.Errorf("%+v %v", def, err)
	}
	response, err := ResponseOf(def.Spec, def.Rules)
	if err != nil || response.Deleted == nil || response.Deleted.own != "gone" {
		t.Errorf("%+v %v", response, err)
	}
	_, err = s.DefineFeed([]byte(`{"response":{"path":"$.lines[*]"},"deleted":{"flag":"gone"}}`), source)
	if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Faults[0].Pointer != "/deleted" {
		t.Error(err)
	}
}

// A full fetch is due after its time, or where a refresh accepts what it finds.
func TestFullDue(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	spec := &Spec{incremental: new(incremental), fullEvery: time.Hour}
	at := func(ago time.Duration) feedmill.Feed {
		return feedmill.Feed{Position: position{Cursor: "5", Full: now.Add(-ago)}.text()}
	}
	accepting := at(time.Minute)
	accepting.Expects.Accept = true
	for _, test := range []struct {
		feeds []feedmill.Feed
		want  bool
	}{
		{[]feedmill.Feed{at(59 * time.Minute)}, false},
		{[]feedmill.Feed{at(time.Hour)}, true},
		{[]feedmill.Feed{at(0), at(2 * time.Hour)}, true},
		{[]feedmill.Feed{accepting}, true},
		{[]feedmill.Feed{at(-time.Hour)}, false},
		{[]feedmill.Feed{{Position: []byte(`{"cursor":"5"}`)}}, true},
	} {
		if got, err := spec.fullDue(feedmill.Fetch{Feeds: test.feeds, Now: now}); got != test.want || err != nil {
			t.Errorf("%+v: %v %v", test.feeds, got, err)
		}
	}
	for _, full := range []bool{true, false} {
		text, err := spec.noteFull(position{Cursor: "9"}.text(), at(time.Minute).Position, full, now)
		p, _ := parsePosition(text)
		if err != nil || p.Cursor != "9" || full != p.Full.Equal(now) || !full && !p.Full.Equal(now.Add(-time.Minute)) {
			t.Errorf("%s %v", text, err)
		}
	}
}
