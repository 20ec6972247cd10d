package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/parquet"
)

var update = flag.Bool("update", false, "write the golden files")

// store is a folder with the files of a table.
type store struct {
	t      *testing.T
	folder string
	table  *Table
	bytes  int // written by the last commit
}

func newStore(t *testing.T, location string) *store {
	s := &store{t: t, folder: t.TempDir()}
	if location == "" {
		location = "file://" + s.folder
	}
	s.table = New("0198d0c5-1f2e-7cc3-98a1-4b2f6f8f0001", location)
	return s
}

func (s *store) put(objects ...Object) {
	s.t.Helper()
	for _, o := range objects {
		s.bytes += len(o.Content)
		path := filepath.Join(s.folder, o.Path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, o.Content, 0o600)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// commit adds a version and writes its files.
func (s *store) commit(v Version) Object {
	s.t.Helper()
	s.bytes = 0
	v.At = time.UnixMilli(1_700_000_000_000 + v.Number)
	objects, err := s.table.Add(v)
	if err != nil {
		s.t.Fatal(err)
	}
	s.put(objects...)
	file, err := s.table.Metadata(v.At)
	if err != nil {
		s.t.Fatal(err)
	}
	s.put(file)
	return file
}

func (s *store) read(path string) ([]byte, error) { return os.ReadFile(filepath.Join(s.folder, path)) }

// row is the values of a row of the test's tables; nil is null.
type row struct {
	id     int64
	amount *int64 // without its point
	text   *string
	at     *int64
}

// vectors are rows as blocks of some columns, which are found by their ids.
func vectors(columns []feedmill.Column, rows []row) []columnar.Vector {
	block := make([]columnar.Vector, len(columns))
	for i := range columns {
		c := &columns[i]
		v := columnar.Vector{Type: c.Type, Len: len(rows), Precision: c.Precision, Scale: c.Scale, Valid: make([]uint64, (len(rows)+63)/64)}
		if c.Type == columnar.TypeText {
			v.Offsets = []uint32{0}
		}
		for r, row := range rows {
			var n *int64
			switch c.Number() {
			case 1:
				n = &row.id
			case 2:
				n = row.amount
			case 4:
				n = row.at
			case 3:
				if row.text != nil {
					v.Valid[r>>6] |= 1 << (r & 63)
					v.Bytes = append(v.Bytes, *row.text...)
				}
				v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
				continue
			}
			if n == nil {
				v.Ints = append(v.Ints, 0)
				continue
			}
			v.Valid[r>>6] |= 1 << (r & 63)
			v.Ints = append(v.Ints, *n)
		}
		block[i] = v
	}
	return block
}

// file writes rows as a Parquet file of the table.
func (s *store) file(name string, columns []feedmill.Column, rows []row) DataFile {
	s.t.Helper()
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, columns, parquet.Options{GroupRows: 64})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := w.Append(context.Background(), vectors(columns, rows)); err != nil {
		s.t.Fatal(err)
	}
	if err := w.Close(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	s.put(Object{"data/" + name, out.Bytes()})
	f := DataFile{Path: s.table.Location + "/data/" + name, Rows: int64(len(rows)), Bytes: int64(out.Len()), Columns: columns}
	if f.Statistics, err = ReadStatistics(name, bytes.NewReader(out.Bytes()), f.Bytes, columns); err != nil {
		s.t.Fatal(err)
	}
	return f
}

func testColumns() []feedmill.Column {
	return []feedmill.Column{
		{ID: "c1", Name: "id", Type: columnar.TypeInteger},
		{ID: "c2", Name: "amount", Type: columnar.TypeDecimal, Precision: 5, Scale: 2},
		{ID: "c3", Name: "text", Type: columnar.TypeText, Description: "what it is"},
		{ID: "c4", Name: "at", Type: columnar.TypeTimestamp},
	}
}

// testRows are rows with ids from one to another, with nulls and times before 1970.
func testRows(from, to int64) (rows []row) {
	for id := from; id < to; id++ {
		r := row{id: id}
		if id%3 != 0 {
			r.amount, r.text, r.at = new((id*37)%99_999-50_000), new(fmt.Sprintf("t%d", id)), new((id-500)*86_400_000_000*40)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestGolden(t *testing.T) {
	s := newStore(t, "s3://bucket/tables/ws/df")
	s.put(Object{"data/x", nil})
	a := s.file("a.parquet", testColumns(), testRows(0, 100))
	b := s.file("b.parquet", testColumns(), testRows(100, 110))
	s.commit(Version{Number: 1, Columns: testColumns(), Files: []DataFile{a}})
	s.commit(Version{Number: 2, Columns: testColumns(), Files: []DataFile{a, b}})
	s.commit(Version{Number: 3, Columns: testColumns()[:3], Files: []DataFile{b}})
	written, err := filepath.Glob(filepath.Join(s.folder, "metadata", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range written {
		name := filepath.Base(path)
		names = append(names, name)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "golden", name)
		if *update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(golden), 0o755), os.WriteFile(golden, got, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s, %v; read it and run go test -update", name, golden, err)
		}
	}
	kept, err := os.ReadDir(filepath.Join("testdata", "golden"))
	if err != nil || len(kept) != len(names) {
		t.Errorf("%d golden files, want %d: %v", len(kept), len(names), err)
	}
}

// A table that is loaded goes on like the one that was written.
func TestLoad(t *testing.T) {
	s := newStore(t, "")
	var files []DataFile
	for n := range int64(40) {
		files = append(files, s.file(fmt.Sprintf("%d.parquet", n), testColumns(), testRows(10*n, 10*n+10)))
		if n == 30 {
			files = files[25:] // some are gone
		}
		last := s.commit(Version{Number: n + 1, Columns: testColumns(), Files: files})
		s.table.Expire(func(s *Snapshot) bool { return s.Version > n-10 })
		loaded, err := Load(s.table.Location, last.Path, s.read)
		if err != nil {
			t.Fatal(err)
		}
		loaded.Expire(func(s *Snapshot) bool { return s.Version > n-10 })
		if diff := cmp.Diff(s.table.Objects(), loaded.Objects()); diff != "" {
			t.Fatalf("version %d (-written +loaded):\n%s", n+1, diff)
		}
		next := Version{Number: n + 2, Columns: testColumns(), Files: files[:1], At: time.UnixMilli(1_800_000_000_000)}
		one, err := s.clone(last).Add(next)
		if err != nil {
			t.Fatal(err)
		}
		two, err := loaded.Add(next)
		if diff := cmp.Diff(one, two); diff != "" || err != nil {
			t.Fatalf("after version %d, %v (-written +loaded):\n%s", n+1, err, diff)
		}
	}
	if n := len(s.table.Snapshots); n != 11 {
		t.Errorf("%d snapshots are kept, want 11", n)
	}
	if n := len(s.table.earlier); n != keepMetadata {
		t.Errorf("%d earlier metadata files are listed, want %d", n, keepMetadata)
	}
}

// clone is the table as it is, so that a test can add to it.
func (s *store) clone(Object) *Table {
	t := *s.table
	t.Snapshots, t.schemas = slices.Clone(t.Snapshots), slices.Clone(t.schemas)
	return &t
}

// TestSize has a table with many versions and files: its metadata stays below 1 MB, and a
// commit writes about as much with all of them as with a few.
func TestSize(t *testing.T) {
	s := newStore(t, "s3://bucket/tables/ws_019a94f3f0e77b0f8c5f7a1d2e3f4a5b/df_019a94f3f0e77b0f8c5f7a1d2e3f4a5b")
	template := s.file("template.parquet", testColumns(), testRows(0, 100))
	most := longOr(600, 3000)
	var files []DataFile
	var first, last []int
	for n := range int64(most) {
		f := template
		f.Path = fmt.Sprintf("%s/data/%05d.parquet", s.table.Location, n)
		files = append(files, f)
		v := Version{Number: n + 1, Columns: testColumns(), Files: files, At: time.UnixMilli(1_700_000_000_000 + n)}
		objects, err := s.table.Add(v)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, o := range objects {
			size += len(o.Content)
		}
		switch {
		case n < 100:
			first = append(first, size)
		case n >= int64(most)-100:
			last = append(last, size)
		}
		s.table.Expire(func(s *Snapshot) bool { return s.Version > n-999 })
	}
	sum := func(of []int) (n int) {
		for _, size := range of {
			n += size
		}
		return n
	}
	if a, b := sum(first), sum(last); b > 2*a {
		t.Errorf("the last 100 commits wrote %d bytes, the first 100 %d", b, a)
	}
	file, err := s.table.Metadata(time.Now())
	if err != nil || len(s.table.Snapshots) != min(most, 1000) || len(file.Content) >= 1<<20 {
		t.Errorf("the metadata of %d snapshots has %d bytes, %v", len(s.table.Snapshots), len(file.Content), err)
	}
	if n := len(s.table.Current().manifests); n > most/fullManifest+smallManifests+2 {
		t.Errorf("the current snapshot has %d manifests", n)
	}
	live := 0
	for _, m := range s.table.Current().manifests {
		live += m.live()
	}
	if live != most {
		t.Errorf("the current snapshot has %d files, want %d", live, most)
	}
	t.Logf("metadata %d bytes, %d manifests, 100 commits %d and %d bytes", len(file.Content), len(s.table.Current().manifests), sum(first), sum(last))
}

func longOr(short, long int) int {
	if os.Getenv("FEEDMILL_LONG") != "" {
		return long
	}
	return short
}

// Manifests of which no file is gone are used again.
func TestManifestsAreReused(t *testing.T) {
	s := newStore(t, "")
	a, b, c := s.file("a.parquet", testColumns(), testRows(0, 10)), s.file("b.parquet", testColumns(), testRows(10, 20)), s.file("c.parquet", testColumns(), testRows(20, 30))
	paths := func() (paths []string) {
		for _, m := range s.table.Current().manifests {
			paths = append(paths, m.path)
		}
		return paths
	}
	s.commit(Version{Number: 1, Columns: testColumns(), Files: []DataFile{a}})
	one := paths()
	s.commit(Version{Number: 2, Columns: testColumns(), Files: []DataFile{a, b}})
	two := paths()
	if len(two) != 2 || two[0] != one[0] {
		t.Errorf("manifests %v, then %v", one, two)
	}
	s.commit(Version{Number: 3, Columns: testColumns(), Files: []DataFile{b, c}})
	three := paths()
	if len(three) != 3 || three[0] == two[0] || three[1] != two[1] {
		t.Errorf("manifests %v, then %v", two, three)
	}
	var files []string
	for _, path := range s.table.Current().Files() {
		files = append(files, filepath.Base(path))
	}
	if want := []string{"b.parquet", "c.parquet"}; !slices.Equal(files, want) {
		t.Errorf("the current snapshot has the files %v, want %v", files, want)
	}
	var operations []Operation
	for _, snapshot := range s.table.Snapshots {
		operations = append(operations, snapshot.Operation)
	}
	s.commit(Version{Number: 3, Columns: testColumns(), Files: []DataFile{a}, Joined: true})
	s.commit(Version{Number: 4, Columns: testColumns(), Files: nil})
	for _, snapshot := range s.table.Snapshots[3:] {
		operations = append(operations, snapshot.Operation)
	}
	if want := []Operation{Append, Append, Overwrite, Replace, Delete}; !slices.Equal(operations, want) {
		t.Errorf("operations %v, want %v", operations, want)
	}
}

func TestNotConforming(t *testing.T) {
	s := newStore(t, "")
	file := s.file("a.parquet", testColumns(), testRows(0, 10))
	wider, scaled, text := testColumns(), testColumns(), testColumns()
	wider[1].Precision = 9
	scaled[1].Precision, scaled[1].Scale = 9, 3
	text[0].Type = columnar.TypeText
	s.commit(Version{Number: 1, Columns: testColumns(), Files: []DataFile{file}})
	s.commit(Version{Number: 2, Columns: wider, Files: []DataFile{file}})
	for _, columns := range [][]feedmill.Column{scaled, text} {
		_, err := s.table.Add(Version{Number: 3, Columns: columns, Files: []DataFile{file}})
		if _, ok := errors.AsType[*NotConformingError](err); !ok || len(s.table.Snapshots) != 2 {
			t.Errorf("%v, and %d snapshots", err, len(s.table.Snapshots))
		}
	}
	moved := testColumns()
	moved[0].ID, moved[3].ID = "c4", "c1"
	content, err := s.read("data/a.parquet")
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadStatistics("a", bytes.NewReader(content), int64(len(content)), moved)
	if _, ok := errors.AsType[*NotConformingError](err); !ok {
		t.Errorf("a file with other field ids: %v", err)
	}
}

func TestStatistics(t *testing.T) {
	s := newStore(t, "")
	rows := testRows(1, 200) // four row groups
	got := s.file("a.parquet", testColumns(), rows)
	var nulls int64
	least, most := rows[0], rows[0]
	for _, r := range rows {
		if r.amount == nil {
			nulls++
			continue
		}
		if *r.amount < *least.amount {
			least.amount = r.amount
		}
		if *r.amount > *most.amount {
			most.amount = r.amount
		}
	}
	if got.Nulls[1] != 0 || got.Nulls[2] != nulls || got.Nulls[3] != nulls || len(got.Splits) != 4 || got.Splits[0] != 4 {
		t.Errorf("nulls %v, splits %v, want %d nulls", got.Nulls, got.Splits, nulls)
	}
	if low, high := signed(got.Lower[2]).Int64(), signed(got.Upper[2]).Int64(); low != *least.amount || high != *most.amount || len(got.Lower[2]) > 3 {
		t.Errorf("amounts from %d to %d, want %d to %d", low, high, *least.amount, *most.amount)
	}
	if string(got.Lower[3]) != "t1" || string(got.Upper[3]) != "t98" || !bytes.Equal(got.Upper[1], []byte{199, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("bounds %q %q %v", got.Lower[3], got.Upper[3], got.Upper[1])
	}
	for text, want := range map[string]int64{"\x00": 0, "\x7f": 127, "\x00\x80": 128, "\xff": -1, "\x80": -128, "\xff\x7f": -129} {
		if n := signed(shortest([]byte(text))).Int64(); n != want || len(shortest([]byte(text))) != len(text) {
			t.Errorf("%q is %d, want %d", text, n, want)
		}
	}
}

// Files that are cut or changed are refused.
func FuzzAvro(f *testing.F) {
	paths, err := filepath.Glob("testdata/golden/*.avro")
	if err != nil || len(paths) == 0 {
		f.Fatal("no golden files", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if m, err := readManifest(file); err == nil {
			if _, err := m.encode(&Schema{}); err != nil {
				t.Error(err)
			}
		}
		_, _ = readList(file)
	})
}

func TestSchemasOfAvroAreJSON(t *testing.T) {
	for _, schema := range []string{manifestSchema, manifestListSchema} {
		if !json.Valid([]byte(schema)) || strings.Contains(schema, "%!") {
			t.Errorf("not JSON: %s", schema)
		}
	}
}
