package feed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/refresh"
)

// docSpec defines a feed of a docSource: the documents of a name, and where in them its records are.
type docSpec struct {
	From    string              `json:"from,omitzero"`
	Path    string              `json:"path,omitzero"`
	Mode    feedmill.FeedMode   `json:"mode,omitzero"`
	Key     []string            `json:"key,omitzero"`
	Parents []feedmill.ID       `json:"parents,omitzero"`
	Columns []map[string]string `json:"columns,omitzero"`
}

// docSource has documents by their names, each a page.
type docSource struct {
	mu      sync.Mutex
	docs    map[string][]string
	fetched feedmill.Fetched
	fault   error
	secrets []string
}

func (s *docSource) Define(body []byte) (feedmill.FeedDefinition, error) {
	var spec docSpec
	if err := json.Unmarshal(body, &spec); err != nil {
		return feedmill.FeedDefinition{}, feedmill.Invalid(err.Error())
	}
	return feedmill.FeedDefinition{
		Name: spec.From, Mode: cmp.Or(spec.Mode, feedmill.ModeReplace), Key: spec.Key, Spec: body, Rules: feedmill.RulesCurrent,
		Source: feedmill.SourceDefinition{Host: spec.From, Spec: body, Secrets: []byte("first"), Rules: feedmill.RulesCurrent},
	}, nil
}

func (s *docSource) DefineStored(body []byte) (feedmill.FeedDefinition, error) { return s.Define(body) }

func (s *docSource) DefineFeed(body, _ []byte) (feedmill.FeedDefinition, error) {
	return s.Define(body)
}

func (s *docSource) Check(_ context.Context, _ feedmill.ID, def feedmill.FeedDefinition) (feedmill.FeedDefinition, error) {
	return def, nil
}

func (s *docSource) Redefine(feed feedmill.Feed, _, patch []byte) (feedmill.FeedDefinition, feedmill.FetchAgain, error) {
	var spec docSpec
	if err := errors.Join(json.Unmarshal(feed.Spec, &spec), json.Unmarshal(patch, &spec)); err != nil {
		return feedmill.FeedDefinition{}, 0, err
	}
	body, err := json.Marshal(spec)
	if err != nil {
		return feedmill.FeedDefinition{}, 0, err
	}
	def, err := s.Define(body)
	return def, feedmill.FetchAnew, err
}

func (s *docSource) Describe(feedSpec, _ []byte) ([]byte, error) { return feedSpec, nil }

func (s *docSource) Parents(text []byte) (parents []feedmill.FeedParent) {
	var spec docSpec
	_ = json.Unmarshal(text, &spec)
	for _, id := range spec.Parents {
		parents = append(parents, feedmill.FeedParent{ID: id, Pointer: "/parents"})
	}
	return parents
}

func (s *docSource) Upstream([]byte) []feedmill.UpstreamVersion { return nil }

func (s *docSource) Fetch(ctx context.Context, f feedmill.Fetch, sink feedmill.FetchSink) (feedmill.Fetched, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, string(f.Secrets))
	var source docSpec
	if err := json.Unmarshal(f.Spec, &source); err != nil {
		return feedmill.Fetched{}, err
	}
	fetched := s.fetched
	for _, feed := range f.Feeds {
		var spec docSpec
		if err := json.Unmarshal(feed.Spec, &spec); err != nil {
			return fetched, err
		}
		if err := sink.Read(feed.ID, feedmill.PageReading{Reading: feedmill.Reading{Format: "json", Path: spec.Path}, List: true}); err != nil {
			return fetched, err
		}
		fetched.Positions = append(fetched.Positions, []byte(`{"at":1}`))
	}
	for i, doc := range s.docs[source.From] {
		rows, err := sink.Page(ctx, feedmill.FetchedPage{Number: i + 1, First: i == 0, Format: "json", Body: io.NewSectionReader(strings.NewReader(doc), 0, int64(len(doc)))})
		if err != nil {
			return fetched, err
		}
		f.Trace(feedmill.TracedRequest{Method: "GET", URL: source.From, Page: i + 1, Rows: rows[0]})
	}
	if s.fault != nil {
		return feedmill.Fetched{}, s.fault
	}
	return fetched, f.KeepSecrets(ctx, []byte("next"))
}

// newFetching is a stock whose feeds fetch documents, with a running engine.
func newFetching(t *testing.T) (*stock, *docSource) {
	t.Helper()
	s, source := newStock(t), &docSource{docs: make(map[string][]string)}
	s.Fetcher = NewFetcher(s.Mill, map[feedmill.FeedType]Source{feedmill.FeedREST: source})
	engine := refresh.New(refresh.Options{
		Store: s.db, Runner: s.Fetcher, Holder: "test", Events: Events(publish.SourceEvents).OfNews, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	s.Engine = engine
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return s, source
}

func (s *docSource) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// fetched creates a feed, on the source of another where that is given, and waits for its data.
func (s *stock) fetched(t *testing.T, workspace feedmill.ID, body string, sourceOf feedmill.ID) feedmill.Feed {
	t.Helper()
	f, err := s.CreateFetched(t.Context(), workspace, feedmill.FetchedFeed{Type: feedmill.FeedREST, Body: []byte(body), SourceOf: sourceOf}, noResponse)
	if err != nil {
		t.Fatal(err)
	}
	return s.await(t, f)
}

func (s *stock) await(t *testing.T, f feedmill.Feed) feedmill.Feed {
	t.Helper()
	f, err := s.Await(t.Context(), f.Workspace, f.ID)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// refresh refreshes a feed and waits for its data.
func (s *stock) refresh(t *testing.T, f feedmill.Feed) feedmill.Feed {
	t.Helper()
	if _, err := s.RefreshFeed(t.Context(), f.Workspace, f.ID, false, func(feedmill.Refresh) (*feedmill.IdempotentResponse, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	return s.await(t, f)
}

// codes are the warnings of the last refresh of a feed.
func codes(f feedmill.Feed) string {
	var all []string
	for _, w := range f.LastRefresh.Warnings {
		all = append(all, w.Code)
	}
	return strings.Join(all, " ")
}

// TestTwoFeedsOfOneSource fetches two feeds from one source, beside a feed of another workspace with
// documents of the same name: each has its own rows, and a change of one leaves the others.
func TestTwoFeedsOfOneSource(t *testing.T) {
	s, source := newFetching(t)
	source.docs["shop"] = []string{`{"a":[{"k":1,"l":"x","n":1},{"k":1,"l":"y","n":2}],"b":[{"m":7}]}`, `{"a":[{"k":2,"l":"x","n":3}],"b":[]}`}
	a := s.fetched(t, s.one, `{"from":"shop","path":"$.a[*]","mode":"merge","key":["k","l"]}`, "")
	b := s.fetched(t, s.one, `{"from":"shop","path":"$.b[*]"}`, a.ID)
	other := s.fetched(t, s.two, `{"from":"shop","path":"$.a[*]"}`, "")
	want := func(f feedmill.Feed, version int64, rows string) {
		t.Helper()
		f = s.await(t, f)
		if diff := gocmp.Diff(rows, s.rows(t, f)); diff != "" || f.Version != version {
			t.Errorf("%s in %s has version %d, want %d (-want +got):\n%s", f.ID, f.Workspace, f.Version, version, diff)
		}
	}
	const first = "k,l,n\n1,x,1\n1,y,2\n2,x,3\n"
	want(a, 1, first)
	want(b, 1, "m\n7\n")
	want(other, 1, first)
	if a.Source != b.Source || a.Source == other.Source || a.LastRefresh.Pages != 2 || a.LastRefresh.RowsIn != 3 {
		t.Errorf("sources %s, %s and %s, refresh %+v", a.Source, b.Source, other.Source, a.LastRefresh)
	}

	source.set(func() { source.docs["shop"] = []string{`{"a":[{"k":1,"l":"y","n":20}],"b":[{"m":8}]}`} })
	a = s.refresh(t, a)
	want(a, 2, "k,l,n\n1,x,1\n2,x,3\n1,y,20\n")
	want(b, 2, "m\n8\n")
	want(other, 1, first)

	// A full fetch deletes the rows that did not come, unless it lacks some.
	source.set(func() { source.fetched = feedmill.Fetched{Full: true, Partial: "a page failed"} })
	if a = s.refresh(t, a); a.Version != 2 || codes(a) != feedmill.WarnNotDeleted {
		t.Errorf("version %d with %s", a.Version, codes(a))
	}
	source.set(func() { source.fetched.Partial = "" })
	a = s.refresh(t, a)
	want(a, 3, "k,l,n\n1,y,20\n")
	want(b, 2, "m\n8\n")
	if c := a.LastRefresh.Changes.Rows; c == nil || *c != (feedmill.RowChanges{Deleted: 2}) {
		t.Errorf("changes %+v", c)
	}

	// What a run was given for its secrets is there in the next one.
	if diff := gocmp.Diff([]string{"first", "next", "first"}, []string{source.secrets[0], source.secrets[1], source.secrets[2]}); diff != "" {
		t.Error("secrets of two sources:", diff)
	}

	source.set(func() { source.fetched = feedmill.Fetched{} })
	restored, err := s.Restore(t.Context(), s.one, a.ID, 2, noResponse)
	if err != nil {
		t.Fatal(err)
	}
	want(restored, 4, "k,l,n\n1,x,1\n2,x,3\n1,y,20\n")
	want(b, 2, "m\n8\n")
	if _, err := s.Change(t.Context(), s.one, b.ID, feedmill.FeedPatch{Spec: []byte(`{"path":"$.a[*]"}`), Fields: []string{"path"}}); err != nil {
		t.Fatal(err)
	}
	want(b, 3, "m,k,l,n\n,1,y,20\n")
	want(other, 1, first)
	name := "renamed"
	if changed, err := s.Change(t.Context(), s.one, b.ID, feedmill.FeedPatch{Name: &name, Fields: []string{"name"}}); err != nil || changed.Name != name || changed.Version != 3 {
		t.Errorf("%s with version %d: %v", changed.Name, changed.Version, err)
	}
}

// TestFailingSources holds that feeds keep their versions while their source fails, that a new
// credential of a connection is tried at once for its feeds alone, and that paused feeds stay so.
func TestFailingSources(t *testing.T) {
	s, source := newFetching(t)
	source.docs["one"], source.docs["two"] = []string{`[{"n":1}]`}, []string{`[{"n":2}]`}
	one, two := s.fetched(t, s.one, `{"from":"one"}`, ""), s.fetched(t, s.one, `{"from":"two"}`, "")
	source.set(func() {
		source.fault = &feedmill.SourceFailure{Type: "source-auth", Title: "No", Detail: "The credential is refused.", AuthRequired: true}
	})
	for _, f := range []*feedmill.Feed{&one, &two} {
		*f = s.refresh(t, *f)
		if f.State != feedmill.FeedAuthRequired || f.LastError == nil || f.LastError.Type != "/problems/source-auth" || f.Version != 1 || f.LastRefresh.State != feedmill.RefreshFailed {
			t.Errorf("%+v", f)
		}
		if len(s.all(t)) != 2 {
			t.Errorf("a failed fetch left files: %v", s.all(t))
		}
	}
	source.set(func() { source.fault, source.docs["one"] = nil, []string{`[{"n":3}]`} })
	if err := s.Reconnected(t.Context(), s.one, "one"); err != nil {
		t.Fatal(err)
	}
	if one = s.await(t, one); one.State != feedmill.FeedReady || one.LastError != nil || s.rows(t, one) != "n\n3\n" {
		t.Errorf("the feed of the connection is %+v", one)
	}
	if two = s.await(t, two); two.State != feedmill.FeedAuthRequired || two.LastError == nil {
		t.Errorf("the feed of another connection is %+v", two)
	}
	if _, err := s.Pause(t.Context(), s.one, two.ID, noResponse); err != nil {
		t.Fatal(err)
	}
	if err := s.Reconnected(t.Context(), s.one, "two"); err != nil || s.await(t, two).State != feedmill.FeedPaused {
		t.Errorf("a paused feed is %s: %v", s.await(t, two).State, err)
	}
	if _, err := s.Resume(t.Context(), s.one, two.ID, noResponse); err != nil {
		t.Fatal(err)
	}
	if two = s.await(t, two); two.State != feedmill.FeedReady || two.LastError != nil {
		t.Errorf("a resumed feed is %+v", two)
	}

	// Changes of columns in a definition that do not fit the data are a failure of the feed.
	source.set(func() { source.docs["three"] = []string{`[{"n":1,"m":"x"}]`} })
	unfit := s.fetched(t, s.one, `{"from":"three","columns":[{"sourceName":"n","name":"m"}]}`, "")
	if unfit.Version != 0 || unfit.LastError == nil || unfit.LastError.Type != "/problems/columns" || !strings.Contains(unfit.LastError.Detail, "/columns/0") {
		t.Errorf("%+v with %+v", unfit, unfit.LastError)
	}
	fit := s.fetched(t, s.one, `{"from":"three","columns":[{"sourceName":"n","name":"count"},{"sourceName":"gone","name":"x"}]}`, "")
	if s.rows(t, fit) != "count,m\n1,x\n" || codes(fit) != feedmill.WarnNothingFound {
		t.Errorf("%q with %s", s.rows(t, fit), codes(fit))
	}
}

// TestChildrenOfTwoFeeds refuses to delete feeds that others are built from, and warns of those that
// fail upstream.
func TestChildrenOfTwoFeeds(t *testing.T) {
	s, source := newFetching(t)
	source.docs["parent"], source.docs["child"] = []string{`[{"n":1}]`}, []string{`[{"n":2}]`}
	one, two := s.fetched(t, s.one, `{"from":"parent"}`, ""), s.fetched(t, s.one, `{"from":"parent"}`, "")
	child := s.fetched(t, s.one, `{"from":"child","parents":["`+string(one.ID)+`","`+string(two.ID)+`"]}`, "")
	warnings := func() (details []string) {
		t.Helper()
		all, err := s.UpstreamWarnings(t.Context(), child)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range all {
			if w.Count != 1 {
				t.Errorf("a warning counts %d feeds", w.Count)
			}
			details = append(details, w.Code+" "+w.Detail)
		}
		return details
	}
	if got := warnings(); got != nil {
		t.Errorf("warnings %v", got)
	}
	for _, f := range []feedmill.Feed{one, two} {
		if err := s.Delete(t.Context(), s.one, f.ID, false); !errors.Is(err, feedmill.ErrConflict) || !strings.Contains(err.Error(), string(child.ID)) {
			t.Errorf("a parent was deleted: %v", err)
		}
	}
	source.set(func() { source.fault = &feedmill.SourceFailure{Type: "broken", Title: "No", Detail: "No."} })
	two = s.refresh(t, two)
	if err := s.Delete(t.Context(), s.one, one.ID, true); err != nil {
		t.Fatal(err)
	}
	got := warnings()
	if len(got) != 2 || !strings.Contains(got[0]+got[1], string(one.ID)+" was deleted") || !strings.Contains(got[0]+got[1], string(two.ID)+" (parent) has failed") {
		t.Errorf("warnings %v", got)
	}
	if err := s.Delete(t.Context(), s.one, child.ID, false); err != nil {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), s.two, two.ID, true); !errors.Is(err, feedmill.ErrNotFound) {
		t.Errorf("the feed of another workspace was deleted: %v", err)
	}
	if rows, version, err := s.FeedRows(t.Context(), s.one, two.ID, []string{"n"}); err != nil || version != 1 {
		t.Error(version, err)
	} else {
		defer rows.Close()
		if text, err := io.ReadAll(rows); err != nil || !bytes.Equal(text, []byte("{\"n\":1}\n")) {
			t.Errorf("%q %v", text, err)
		}
	}
}
