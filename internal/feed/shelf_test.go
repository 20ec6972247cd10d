package feed

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/lake/worker"
)

// TestMain makes the test binary a worker, too, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := worker.Main(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// typedSource has rows whose columns have types already.
type typedSource struct {
	Source
	columns []feedmill.Column
	runs    [][]columnar.Vector
	fault   error
}

func (s *typedSource) Define([]byte) (feedmill.FeedDefinition, error) {
	return feedmill.FeedDefinition{Name: "typed", Spec: []byte(`{}`)}, nil
}

func (s *typedSource) Check(_ context.Context, _ feedmill.ID, def feedmill.FeedDefinition) (feedmill.FeedDefinition, error) {
	return def, nil
}

func (s *typedSource) Upstream([]byte) []feedmill.UpstreamVersion { return nil }

func (s *typedSource) Fetch(ctx context.Context, f feedmill.Fetch, sink feedmill.FetchSink) (fetched feedmill.Fetched, err error) {
	if err := sink.Columns(ctx, s.columns); err != nil {
		return fetched, err
	}
	for i, run := range s.runs {
		if err := sink.Rows(ctx, run); err != nil {
			return fetched, err
		}
		f.Trace(feedmill.TracedRequest{Method: "SELECT", Page: i + 1, Rows: int64(run[0].Len)})
	}
	for range f.Feeds {
		fetched.Positions = append(fetched.Positions, []byte(`{"at":1}`))
	}
	return fetched, s.fault
}

// columns makes columns of texts like "id integer" and "amount decimal(5,2)".
func columns(texts ...string) (all []feedmill.Column) {
	for _, text := range texts {
		name, kind, _ := strings.Cut(text, " ")
		c := feedmill.Column{SourceName: name, Nullable: true}
		kind, digits, isDecimal := strings.Cut(kind, "(")
		if c.Type = columnar.Type(kind); isDecimal {
			fmt.Sscanf(digits, "%d,%d", &c.Precision, &c.Scale)
		}
		all = append(all, c)
	}
	return all
}

// run makes vectors of rows; nil is null, and a decimal its digits.
func (s *typedSource) run(rows ...[]any) {
	run := make([]columnar.Vector, len(s.columns))
	for i, c := range s.columns {
		v := columnar.Vector{Type: c.Type, Len: len(rows), Precision: c.Precision, Scale: c.Scale, Valid: make([]uint64, (len(rows)+63)/64)}
		for r, row := range rows {
			if row[i] != nil {
				v.Valid[r>>6] |= 1 << (r & 63)
			}
			switch c.Type {
			case columnar.TypeText:
				text, _ := row[i].(string)
				if v.Offsets == nil {
					v.Offsets = []uint32{0}
				}
				v.Bytes = append(v.Bytes, text...)
				v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
			default:
				n, _ := row[i].(int)
				v.Ints = append(v.Ints, int64(n))
			}
		}
		run[i] = v
	}
	s.runs = append(s.runs, run)
}

// shelf is a mill with one source, and the versions that it made.
type shelf struct {
	*Fetcher
	source   *typedSource
	versions map[string]feedmill.FeedVersion
	runs     int64
}

func (s *shelf) FeedVersion(_ context.Context, _, feed feedmill.ID, number int64) (feedmill.FeedVersion, error) {
	return s.versions[fmt.Sprint(feed, number)], nil
}

type noSecrets struct{ Vault }

func (noSecrets) Unseal(context.Context, []byte, string) ([]byte, error) { return nil, nil }

// noSums is a store that has no files.
type noSums struct{ Sums }

func (noSums) StoredFile(context.Context, string) (f feedmill.StoredFile, err error) {
	return f, feedmill.ErrNotFound
}

// noObjects records nothing: these tests have no store.
type noObjects struct{}

func (noObjects) BeginObject(context.Context, string, string, string) error { return nil }
func (noObjects) RenewObjects(context.Context, string) error                { return nil }
func (noObjects) ForgetObject(context.Context, string) error                { return nil }

// openFiles opens an empty folder for files.
func openFiles(t *testing.T, sums Sums, objects Objects) *VerifiedFiles {
	t.Helper()
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	return NewVerifiedFiles(NewRecordedFiles(blobs, objects, "test", ""), sums, slog.New(slog.DiscardHandler), nil)
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	blobs := openFiles(t, noSums{}, noObjects{})
	pool := lake.NewPool(lake.PoolConfig{Temp: t.TempDir(), TempBytes: 1 << 30, Workers: 1, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(pool.Close)
	s := &shelf{source: new(typedSource), versions: make(map[string]feedmill.FeedVersion)}
	s.Fetcher = NewFetcher(NewMill(Parts{
		Versions: s, Vault: noSecrets{}, Blobs: blobs, Reader: lake.NewReader(blobs, pool), Temp: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	}), map[feedmill.FeedType]Source{feedmill.FeedQuery: s.source})
	return s
}

func newTypedFeed() *feedmill.Feed {
	return &feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Type: feedmill.FeedQuery, Mode: feedmill.ModeReplace}
}

// fetch runs the source for feeds, and gives them what came of it.
func (s *shelf) fetch(t *testing.T, feeds ...*feedmill.Feed) []feedmill.FeedOutcome {
	t.Helper()
	s.runs++
	claim := feedmill.Claim{Source: feedmill.Source{ID: "ds_1", Type: feedmill.FeedQuery, Run: s.runs}, Report: func(feedmill.Refresh) {}}
	for _, f := range feeds {
		f.LastRefresh = &feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: f.ID, State: feedmill.RefreshRunning}
		claim.Feeds = append(claim.Feeds, *f)
	}
	outcomes, err := s.Run(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if o.Version != nil {
			s.versions[fmt.Sprint(o.Feed, o.Version.Number)] = *o.Version
			feeds[i].Switch(*o.Version, o.Refresh)
		}
		feeds[i].Position = o.Position
	}
	s.source.runs = nil
	return outcomes
}

// read is the columns and the rows of a feed as it is.
func (s *shelf) read(t *testing.T, f *feedmill.Feed) string {
	t.Helper()
	var out bytes.Buffer
	for _, c := range f.Columns {
		fmt.Fprintf(&out, "%s %s %s", c.ID, c.Name, c.Type)
		if c.Type == columnar.TypeDecimal {
			fmt.Fprintf(&out, "(%d,%d)", c.Precision, c.Scale)
		}
		out.WriteString("; ")
	}
	out.WriteString("\n")
	v := s.versions[fmt.Sprint(f.ID, f.Version)]
	if _, err := s.Reader.Read(t.Context(), lakeVersion(v), feedmill.Query{}, wire.FormatNDJSON, nil, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func (s *shelf) want(t *testing.T, f *feedmill.Feed, o feedmill.FeedOutcome, warnings, table string) {
	t.Helper()
	if diff := cmp.Diff(strings.ReplaceAll(strings.TrimPrefix(table, "\n"), "\t", ""), s.read(t, f)); diff != "" {
		t.Errorf("the feed differs (-want +got):\n%s", diff)
	}
	var codes []string
	for _, w := range o.Refresh.Warnings {
		codes = append(codes, fmt.Sprint(w.Code, " ", w.Column, " ", w.Count))
	}
	if got := strings.Join(codes, ", "); got != warnings {
		t.Errorf("warnings %s, want %s", got, warnings)
	}
}

// files are those that are kept.
func (s *shelf) files(t *testing.T) (names []string) {
	t.Helper()
	for name, err := range s.Blobs.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}
