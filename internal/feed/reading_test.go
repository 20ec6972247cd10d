package feed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// plainVault seals texts by their record alone.
type plainVault struct{}

func (plainVault) Seal(plain []byte, record string) ([]byte, error) {
	return slices.Concat([]byte(record), []byte{0}, plain), nil
}

func (plainVault) Unseal(_ context.Context, sealed []byte, record string) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, append([]byte(record), 0))
	if !ok {
		return nil, errors.New("sealed for another record")
	}
	return plain, nil
}

// read reads rows to their end.
func (s *stock) read(t *testing.T, v feedmill.FeedVersion, q feedmill.Query, cursor string) (text, next string) {
	t.Helper()
	rows, err := s.Rows(t.Context(), v, q, "csv", cursor)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all, err := io.ReadAll(rows)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(all), "\r\n", "\n"), rows.Next
}

// TestPagesOfTwoFeeds reads feeds page by page. A cursor of one feed is not valid for the other.
func TestPagesOfTwoFeeds(t *testing.T) {
	s := newStock(t)
	a, b := s.create(t, s.one, csv(feedmill.ModeReplace, "n\n1\n2\n3\n4\n5\n")), s.create(t, s.two, csv(feedmill.ModeReplace, "n\n6\n7\n8\n"))
	for f, want := range map[*feedmill.Feed][]string{&a: {"n\n1\n2\n", "n\n3\n4\n", "n\n5\n"}, &b: {"n\n6\n7\n", "n\n8\n"}} {
		v, cursor := s.version(t, *f, 1), ""
		for _, page := range want {
			var got string
			if got, cursor = s.read(t, v, feedmill.Query{Limit: 2}, cursor); got != page {
				t.Errorf("a page is %q, want %q", got, page)
			}
		}
		if cursor != "" {
			t.Error("there is a page after the last")
		}
	}
	_, cursor := s.read(t, s.version(t, a, 1), feedmill.Query{Limit: 2}, "")
	for _, wrong := range []string{cursor, "*", "eA"} {
		if _, err := s.Rows(t.Context(), s.version(t, b, 1), feedmill.Query{Limit: 2}, "csv", wrong); !errors.Is(err, feedmill.ErrInvalid) {
			t.Errorf("the cursor %s: %v", wrong, err)
		}
	}
	// A long page goes by way of a file, and what it takes of the disk is released.
	long := s.create(t, s.one, csv(feedmill.ModeReplace, "n,text\n"+manyLines("%d,"+strings.Repeat("x", 90)+"\n", 2*pageMemory)))
	text, _ := s.read(t, s.version(t, long, 1), feedmill.Query{Limit: long.RowCount - 1}, "")
	if n := strings.Count(text, "\n"); int64(n) != long.RowCount {
		t.Errorf("%d lines of %d", n, long.RowCount)
	}
	h := &held{folder: t.TempDir(), holder: "a", spools: s.Reader.Spools()}
	for range 3 {
		if _, err := h.Write(make([]byte, pageMemory)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // once is enough, and twice releases nothing more
		_ = h.Close()
	}
	if h.taken != 0 {
		t.Errorf("%d bytes are still taken", h.taken)
	}
}

// TestChangesByTwoColumns compares versions of a feed that is merged by two columns, and of one
// that is not.
func TestChangesByTwoColumns(t *testing.T) {
	s := newStock(t)
	const before, after = "a,b,n\n1,x,1\n1,y,2\n2,x,3\n", "a,b,n\n1,x,1\n1,y,20\n2,y,4\n"
	keyed, plain := s.create(t, s.one, csv(feedmill.ModeReplace, before, "a", "b")), s.create(t, s.one, csv(feedmill.ModeReplace, before))
	s.replace(t, keyed, csv(feedmill.ModeReplace, after, "a", "b"))
	s.replace(t, plain, csv(feedmill.ModeReplace, after))
	for f, want := range map[*feedmill.Feed]string{
		&keyed: "_change,a,b,n,_before\ndelete,2,x,3,\ninsert,2,y,4,\nupdate,1,y,20,\"{\"\"a\"\":1,\"\"b\"\":\"\"y\"\",\"\"n\"\":2}\"",
		&plain: "_change,a,b,n,_before\ndelete,1,y,2,\ndelete,2,x,3,\ninsert,1,y,20,\ninsert,2,y,4,",
	} {
		v, err := s.Changes(t.Context(), s.version(t, *f, 1), s.version(t, *f, 2))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := s.read(t, v, feedmill.Query{}, "")
		lines := strings.Split(strings.TrimSpace(text), "\n")
		slices.Sort(lines[1:])
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("changes\n%s\nwant\n%s", got, want)
		}
	}
}

// TestParquetOfQueries writes the result of a query once, keeps it with its version, and makes
// feeds of it with other types.
func TestParquetOfQueries(t *testing.T) {
	s := newStock(t)
	f := s.create(t, s.one, csv(feedmill.ModeReplace, "n,text\n1,a\n2,7\n3,c\n"))
	v, part := s.version(t, f, 1), feedmill.Query{Fields: []feedmill.Field{{Name: "text"}, {Name: "n"}}}
	open := func(q feedmill.Query, tag string, write bool) []byte {
		t.Helper()
		file, err := s.ParquetFile(t.Context(), s.one, v, q, tag, write)
		if err != nil {
			t.Fatal(err)
		}
		if file == nil {
			return nil
		}
		defer file.Close()
		text, err := io.ReadAll(io.NewSectionReader(file, 0, file.Size()))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got := open(part, "part", false); got != nil {
		t.Errorf("%d bytes that nobody wrote", len(got))
	}
	whole, first := open(feedmill.Query{}, "whole", false), open(part, "part", true)
	if string(whole) != s.content(t, v.Files[0].Name) || first == nil || bytes.Equal(first, whole) {
		t.Errorf("the version as a file has %d bytes, and a part of it %d", len(whole), len(first))
	}
	files := s.all(t)
	if again := open(part, "part", true); !bytes.Equal(again, first) || !cmp.Equal(files, s.all(t)) || len(files) != 3 {
		t.Errorf("the same query wrote another file: %v", s.all(t))
	}
	parquet := func(changes ...feedmill.ColumnChange) feedmill.Upload {
		return feedmill.Upload{Name: "part", Mode: feedmill.ModeReplace, Body: bytes.NewReader(first), Reading: feedmill.Reading{Format: "parquet"}, Columns: changes}
	}
	typed := s.create(t, s.two, parquet())
	if got := s.rows(t, typed); got != "text,n\na,1\n7,2\nc,3\n" || typed.Columns[1].Type != columnar.TypeInteger {
		t.Errorf("%q of %+v", got, typed.Columns)
	}
	integer, text, null := columnar.TypeInteger, columnar.TypeText, feedmill.MisfitsNull
	fixed := s.create(t, s.two, parquet(feedmill.ColumnChange{SourceName: "text", Type: &integer, OnMisfit: &null}, feedmill.ColumnChange{SourceName: "n", Type: &text}))
	if got := s.rows(t, fixed); got != "text,n\n,1\n7,2\n,3\n" || fixed.Columns[0].Type != integer || fixed.Columns[1].Type != text {
		t.Errorf("%q of %+v", got, fixed.Columns)
	}
	shown, err := s.Preview(t.Context(), parquet(feedmill.ColumnChange{SourceName: "text", Type: &integer, OnMisfit: &null}))
	if err != nil || shown.RowCount != 3 || shown.Columns[0].Type != integer || !strings.Contains(string(shown.Rows), `{"text":7,"n":2}`) {
		t.Errorf("%s of %+v, %v", shown.Rows, shown.Columns, err)
	}
}

// TestExpectedUploads refuses uploads that are not what the owner expects, of two columns each.
func TestExpectedUploads(t *testing.T) {
	s := newStock(t)
	const data = "a,b,n\n1,x,1\n2,y,2\n3,z,3\n"
	other := s.create(t, s.one, csv(feedmill.ModeReplace, data))
	f := s.create(t, s.one, csv(feedmill.ModeReplace, data))
	drop := 0.5
	for _, c := range []struct {
		schema feedmill.SchemaPolicy
		rows   feedmill.ExpectedRows
		data   string
		want   string
	}{
		{"", feedmill.ExpectedRows{}, data, ""},
		{"", feedmill.ExpectedRows{MinRows: 2}, "a,b,n\n1,x,1\n", "minRows is 2"},
		{"", feedmill.ExpectedRows{MinRows: 1, MaxDrop: &drop}, "a,b,n\n1,x,1\n", "maxDrop is 0.5"},
		{"", feedmill.ExpectedRows{NotNull: []string{"a", "b"}}, "a,b,n\n1,x,1\n2,,2\n3,,3\n", `"b" is null in 2 rows`},
		{"", feedmill.ExpectedRows{NotNull: []string{"a", "b"}}, "a,b,n\n1,x,1\n2,y,\n", ""},
		{"", feedmill.ExpectedRows{Unique: []string{"a", "b"}}, "a,b,n\n1,x,1\n2,x,2\n", `"b" has 1 values`},
		{"", feedmill.ExpectedRows{Unique: []string{"a", "b"}}, "a,b,n\n1,x,1\n2,y,1\n", ""},
		{feedmill.SchemaFreeze, feedmill.ExpectedRows{}, "a,b,n\n1,x,y\n", `"n" has text values, but its type is integer`},
		{feedmill.SchemaFreeze, feedmill.ExpectedRows{}, "a,b,n,m\n1,x,1,1\n", `"m" is new`},
		{feedmill.SchemaFreeze, feedmill.ExpectedRows{}, "n,a,b\n1,2,x\n", ""},
	} {
		if _, err := s.Change(t.Context(), s.one, f.ID, feedmill.FeedPatch{Expect: &c.rows, Schema: &c.schema}); err != nil {
			t.Fatal(err)
		}
		u := csv(feedmill.ModeReplace, c.data)
		_, err := s.Replace(t.Context(), s.one, f.ID, u, noResponse)
		if c.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", c.rows, err)
			}
			continue
		}
		if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Kind != feedmill.ErrUnprocessable || !strings.Contains(refusal.Detail, c.want) {
			t.Errorf("%+v: %v, want %s", c.rows, err, c.want)
		}
		if c.schema == "" {
			u = csv(feedmill.ModeReplace, c.data)
			if u.Accept = true; s.replace(t, f, u).LastError != nil {
				t.Errorf("%+v are not accepted", c.rows)
			}
		}
		s.replace(t, f, func() feedmill.Upload { u := csv(feedmill.ModeReplace, data); u.Accept = true; return u }())
	}
	if s.rows(t, other) != data {
		t.Error("the other feed has other rows")
	}
}

// TestDamagedFiles verifies and scrubs the files of two feeds of which one is damaged: only its
// feed fails, it is counted once, and an upload in its place makes the feed whole.
func TestDamagedFiles(t *testing.T) {
	s := newStock(t)
	whole, damaged := s.create(t, s.one, csv(feedmill.ModeReplace, "n\n1\n")), s.create(t, s.one, csv(feedmill.ModeReplace, "n\n2\n"))
	name := s.version(t, damaged, 1).Files[0].Name
	lease, err := s.Blobs.Lease(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(lease.Path)
	lease.Release()
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := errors.Join(os.Chmod(lease.Path, 0o600), os.WriteFile(lease.Path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(s.files.damaged)
	for range 2 {
		if err := s.files.scrub(t.Context(), name, true); !errors.Is(err, feedmill.ErrDamaged) {
			t.Errorf("the scrub: %v", err)
		}
		if err := s.CheckFiles(t.Context(), s.version(t, damaged, 1)); !errors.Is(err, feedmill.ErrDamaged) {
			t.Errorf("a read: %v", err)
		}
	}
	if found, err := metrics.Gather(); err != nil || found[0].Metric[0].GetCounter().GetValue() != 1 {
		t.Errorf("damaged files: %v, %v, want 1", found, err)
	}
	if err := errors.Join(s.files.scrub(t.Context(), s.version(t, whole, 1).Files[0].Name, true), s.CheckFiles(t.Context(), s.version(t, whole, 1))); err != nil {
		t.Error(err)
	}
	if _, err := s.Replace(t.Context(), s.one, damaged.ID, csv(feedmill.ModeAppend, "n\n3\n"), noResponse); !errors.Is(err, feedmill.ErrDamaged) {
		t.Errorf("rows were appended to a damaged version: %v", err)
	}
	s.replace(t, damaged, csv(feedmill.ModeReplace, "n\n3\n"))
	if got := s.rows(t, damaged); got != "n\n3\n" {
		t.Errorf("%q after a new upload", got)
	}
}

// TestStagesAreSwept removes what was staged for runs that succeeded, and long ago.
func TestStagesAreSwept(t *testing.T) {
	s := newStock(t)
	if err := s.SweepStages(now()); err != nil {
		t.Fatal("no run has staged anything: ", err)
	}
	stage := func(source string) string {
		folder := s.stageOf(feedmill.ID(source))
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(folder+"/index", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	there := func(folder string) bool {
		_, err := os.Stat(folder)
		return err == nil
	}
	one, two := stage("ds_1"), stage("ds_2")
	claim := feedmill.Claim{Source: feedmill.Source{ID: "ds_1"}}
	s.Committed(claim, []feedmill.FeedOutcome{{}, {Error: &feedmill.FeedError{}}})
	if !there(one) {
		t.Error("what was staged for a run that failed is gone")
	}
	s.Committed(claim, []feedmill.FeedOutcome{{}, {}})
	if there(one) || !there(two) {
		t.Error("what was staged for a run that succeeded is there, or another is gone")
	}
	if err := s.SweepStages(now().Add(keepStaged - time.Hour)); err != nil || !there(two) {
		t.Errorf("what was staged a while ago is gone: %v", err)
	}
	if err := s.SweepStages(now().Add(keepStaged + time.Hour)); err != nil || there(two) {
		t.Errorf("what was staged long ago is there: %v", err)
	}
}
