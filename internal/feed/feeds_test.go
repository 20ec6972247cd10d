package feed

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
)

// idle is an engine that does nothing.
type idle struct{}

func (idle) Wake()                     {}
func (idle) Cancel(feedmill.ID, int64) {}

// stock is feeds on a store of their own, with two workspaces.
type stock struct {
	*Feeds
	db       *sqlite.DB
	files    *VerifiedFiles
	one, two feedmill.ID
}

func newStock(t *testing.T) *stock {
	t.Helper()
	db, quiet := sqlitetest.New(t), slog.New(slog.DiscardHandler)
	s := &stock{db: db, files: openFiles(t, db, db), one: feedmill.NewID(feedmill.PrefixWorkspace), two: feedmill.NewID(feedmill.PrefixWorkspace)}
	pool := lake.NewPool(lake.PoolConfig{Temp: t.TempDir(), TempBytes: 1 << 30, Workers: 1, Log: quiet})
	t.Cleanup(pool.Close)
	mill := NewMill(Parts{
		Versions: db, Sourcing: db, Vault: plainVault{}, Blobs: s.files, Bodies: db, Reader: lake.NewReader(s.files, pool), Temp: t.TempDir(), Stages: t.TempDir() + "/stages", Log: quiet,
	})
	s.Feeds = New(NewFetcher(mill, nil), Options{Store: db, Engine: idle{}, Events: publish.SourceEvents})
	for _, w := range []feedmill.ID{s.one, s.two} {
		if err := db.CreateWorkspace(t.Context(), feedmill.Workspace{ID: w, Name: string(w), CreatedAt: now()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// csv is an upload.
func csv(mode feedmill.FeedMode, data string, key ...string) feedmill.Upload {
	return feedmill.Upload{Name: "orders", Mode: mode, Key: key, Body: strings.NewReader(data), Reading: feedmill.Reading{Format: "csv"}}
}

func (s *stock) create(t *testing.T, workspace feedmill.ID, u feedmill.Upload) feedmill.Feed {
	t.Helper()
	f, err := s.Create(share.For(t.Context(), string(workspace)), workspace, u, noResponse)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (s *stock) replace(t *testing.T, f feedmill.Feed, u feedmill.Upload) feedmill.Feed {
	t.Helper()
	f, err := s.Replace(share.For(t.Context(), string(f.Workspace)), f.Workspace, f.ID, u, noResponse)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// version is a version of a feed.
func (s *stock) version(t *testing.T, f feedmill.Feed, number int64) feedmill.FeedVersion {
	t.Helper()
	v, err := s.db.FeedVersion(t.Context(), f.Workspace, f.ID, number)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rows are the rows of a feed as lines of CSV.
func (s *stock) rows(t *testing.T, f feedmill.Feed) string {
	t.Helper()
	f, err := s.db.Feed(t.Context(), f.Workspace, f.ID)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := s.Reader.Read(t.Context(), lakeVersion(s.version(t, f, f.Version)), feedmill.Query{}, wire.FormatCSV, nil, &out); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

// content is the content of a file, empty where there is none.
func (s *stock) content(t *testing.T, name string) string {
	t.Helper()
	file, err := s.Blobs.Open(t.Context(), name)
	if errors.Is(err, feedmill.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, 0, file.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUploadsOfTwoWorkspaces replaces, appends to, merges and restores feeds beside others of
// the same name, which stay as they are.
func TestUploadsOfTwoWorkspaces(t *testing.T) {
	s := newStock(t)
	const data = "a,b,n\n1,x,1\n1,y,2\n2,x,3\n"
	merged, kept, other := s.create(t, s.one, csv(feedmill.ModeMerge, data, "a", "b")), s.create(t, s.one, csv(feedmill.ModeAppend, data)), s.create(t, s.two, csv(feedmill.ModeMerge, data, "a", "b"))
	want := func(f feedmill.Feed, rows string) {
		t.Helper()
		if diff := cmp.Diff(rows, s.rows(t, f)); diff != "" {
			t.Errorf("%s in %s (-want +got):\n%s", f.ID, f.Workspace, diff)
		}
	}
	// A row with one of two columns of the key in common is another row, and neither may be null.
	merged = s.replace(t, merged, csv(feedmill.ModeMerge, "a,b,n\n1,y,20\n2,y,4\n", "a", "b"))
	want(merged, "a,b,n\n1,x,1\n2,x,3\n1,y,20\n2,y,4\n")
	for _, row := range []string{"1,,5", ",x,5"} {
		_, err := s.Replace(t.Context(), s.one, merged.ID, csv(feedmill.ModeMerge, "a,b,n\n3,x,1\n"+row+"\n", "a", "b"), noResponse)
		if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Kind != feedmill.ErrUnprocessable {
			t.Errorf("merging %s: %v", row, err)
		}
	}
	if c := merged.LastRefresh.Changes.Rows; c == nil || *c != (feedmill.RowChanges{Inserted: 1, Updated: 1}) {
		t.Errorf("changes %+v", c)
	}
	if v := s.version(t, merged, 2); v.Original != "" {
		t.Errorf("a merge kept %s, which is a part of the version", v.Original)
	}
	kept = s.replace(t, kept, csv(feedmill.ModeAppend, "a,b,n\n1,x,1\n"))
	want(kept, data+"1,x,1\n")
	want(other, data)

	// The same rows again are no version, and leave no file.
	files := s.all(t)
	if again := s.replace(t, merged, csv(feedmill.ModeMerge, "a,b,n\n2,y,4\n", "a", "b")); again.Version != merged.Version || !again.LastRefresh.Unchanged {
		t.Errorf("version %d after %d: %+v", again.Version, merged.Version, again.LastRefresh)
	}
	if diff := cmp.Diff(files, s.all(t)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	restored, err := s.Restore(t.Context(), s.one, merged.ID, 1, noResponse)
	if err != nil || restored.Version != 3 || s.version(t, merged, 3).Original != s.version(t, merged, 1).Original {
		t.Errorf("restored as version %d: %v", restored.Version, err)
	}
	want(merged, data)
	if _, err := s.Restore(t.Context(), s.two, merged.ID, 1, noResponse); !errors.Is(err, feedmill.ErrNotFound) {
		t.Errorf("the feed of another workspace was restored: %v", err)
	}
	if _, err := s.Replace(t.Context(), s.two, merged.ID, csv(feedmill.ModeReplace, data), noResponse); !errors.Is(err, feedmill.ErrNotFound) {
		t.Errorf("the feed of another workspace was replaced: %v", err)
	}
}

// all lists every file.
func (s *stock) all(t *testing.T) (names []string) {
	t.Helper()
	for name, err := range s.Blobs.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestParallelUploads appends to two feeds from several goroutines: no row is lost, and none
// reaches the other feed.
func TestParallelUploads(t *testing.T) {
	s := newStock(t)
	feeds := []feedmill.Feed{s.create(t, s.one, csv(feedmill.ModeAppend, "n\n0\n")), s.create(t, s.two, csv(feedmill.ModeAppend, "n\n100\n"))}
	var uploads sync.WaitGroup
	for i := range 6 {
		uploads.Go(func() {
			f := feeds[i%2]
			line := []string{"1", "101", "2", "102", "3", "103"}[i]
			if _, err := s.Replace(share.For(t.Context(), string(f.Workspace)), f.Workspace, f.ID, csv(feedmill.ModeAppend, "n\n"+line+"\n"), noResponse); err != nil {
				t.Error(err)
			}
		})
	}
	uploads.Wait()
	for i, want := range []string{"0 1 2 3 n", "100 101 102 103 n"} {
		lines := strings.Fields(s.rows(t, feeds[i]))
		slices.Sort(lines)
		if got := strings.Join(lines, " "); got != want {
			t.Errorf("the feed has %s, want %s", got, want)
		}
	}
}

// TestOriginalsOutliveRetypes holds that an upload as it came stays when its columns get other
// types: its version has it still, whether the change is refused, finds nothing new or succeeds.
func TestOriginalsOutliveRetypes(t *testing.T) {
	s := newStock(t)
	const data = "id,amount\n007,1\n8,x\n"
	f := s.create(t, s.one, csv(feedmill.ModeReplace, data))
	other := s.create(t, s.one, csv(feedmill.ModeReplace, data))
	original := s.version(t, f, 1).Original
	retype := func(name string, to columnar.Type, policy feedmill.MisfitPolicy) (feedmill.Feed, error) {
		at := slices.IndexFunc(f.Columns, func(c feedmill.Column) bool { return c.Name == name })
		return s.ChangeColumns(t.Context(), s.one, f.ID, []feedmill.ColumnChange{{ID: f.Columns[at].ID, Type: &to, OnMisfit: &policy}})
	}
	for _, c := range []struct {
		column  string
		to      columnar.Type
		policy  feedmill.MisfitPolicy
		version int64
		rows    string
	}{
		{"amount", columnar.TypeInteger, feedmill.MisfitsFail, 0, data},
		{"id", columnar.TypeText, feedmill.MisfitsFail, 1, data},
		{"amount", columnar.TypeInteger, feedmill.MisfitsNull, 2, "id,amount\n007,1\n8,\n"},
		{"amount", columnar.TypeText, feedmill.MisfitsFail, 3, data},
		{"amount", columnar.TypeText, feedmill.MisfitsNull, 3, data},
	} {
		changed, err := retype(c.column, c.to, c.policy)
		refusal, refused := errors.AsType[*feedmill.Error](err)
		if refused != (c.version == 0) || refused && refusal.Type != "misfit" || !refused && err != nil {
			t.Fatalf("%s as %s: %v", c.column, c.to, err)
		}
		if !refused && changed.Version != c.version {
			t.Errorf("%s as %s is version %d, want %d", c.column, c.to, changed.Version, c.version)
		}
		if got := s.rows(t, f); got != c.rows {
			t.Errorf("%s as %s: %q", c.column, c.to, got)
		}
		if s.content(t, original) != data {
			t.Fatalf("%s as %s: the upload as it came is gone", c.column, c.to)
		}
	}
	if s.content(t, s.version(t, other, 1).Original) != data {
		t.Error("the other feed has lost its upload")
	}
}

// TestRejectsAreKept holds that each row with a misfit is kept beside the version, of one column
// and of another.
func TestRejectsAreKept(t *testing.T) {
	s := newStock(t)
	integer, reject := columnar.TypeInteger, feedmill.MisfitsReject
	u := csv(feedmill.ModeReplace, "a,b\n1,1\nx,2\n3,<y>\n4,4\n")
	u.Columns = []feedmill.ColumnChange{{SourceName: "a", Type: &integer, OnMisfit: &reject}, {SourceName: "b", Type: &integer, OnMisfit: &reject}}
	f := s.create(t, s.one, u)
	if got := s.rows(t, f); got != "a,b\n1,1\n4,4\n" || f.LastRefresh.RowsRejected != 2 {
		t.Errorf("%q, and %d rejected", got, f.LastRefresh.RowsRejected)
	}
	want := `{"record":2,"page":null,"column":"a","value":"x","reason":"\"x\" is not a value of the type integer","raw":{"a":"x","b":"2"}}
{"record":3,"page":null,"column":"b","value":"<y>","reason":"\"<y>\" is not a value of the type integer","raw":{"a":"3","b":"<y>"}}
`
	if diff := cmp.Diff(want, s.content(t, f.LastRefresh.Rejects)); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
}

// TestSweptFiles holds that files are deleted when no version of any feed has them, and no
// sooner: two versions can share one.
func TestSweptFiles(t *testing.T) {
	s := newStock(t)
	f, other := s.create(t, s.one, csv(feedmill.ModeReplace, "a\n1\n")), s.create(t, s.two, csv(feedmill.ModeReplace, "a\n1\n"))
	s.replace(t, f, csv(feedmill.ModeReplace, "a\n2\n"))
	if _, err := s.Restore(t.Context(), s.one, f.ID, 1, noResponse); err != nil {
		t.Fatal(err)
	}
	stray, err := s.Blobs.Begin(string(f.ID) + "/stray")
	if err != nil {
		t.Fatal(err)
	}
	defer stray.Close()
	if err := stray.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	sweep := func() []string {
		t.Helper()
		later := time.Now().Add(time.Hour)
		if err := s.AbandonFiles(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		if err := s.SweepFiles(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			var err error
			if more, err = s.DeleteUnreferenced(t.Context(), -time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		return s.all(t)
	}
	// The versions that are kept: 1 and 3 share their files, 2 has its own, and so has the other feed.
	if left := sweep(); len(left) != 6 || slices.Contains(left, string(f.ID)+"/stray") {
		t.Errorf("%v are left", left)
	}
	if err := s.Delete(t.Context(), s.one, f.ID, false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ForgetVersions(t.Context(), now().Add(feedmill.KeepDeletedFor+time.Hour)); err != nil {
		t.Fatal(err)
	}
	v := s.version(t, other, 1)
	want := []string{v.Files[0].Name, v.Original}
	slices.Sort(want)
	if diff := cmp.Diff(want, sweep()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if s.rows(t, other) != "a\n1\n" {
		t.Error("the other feed has lost its rows")
	}
}
