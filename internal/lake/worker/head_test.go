package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/parquet"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// cold is a folder of which the first rows of files are extracted, as from a bucket.
type cold struct {
	folder
	t              *testing.T
	extracts, none int
	read           int64 // bytes of the last extract's file that were read
	spoil          func([]byte) []byte
}

func (c *cold) LeaseHead(_ context.Context, name string, size int64, columns []int, rows int64) (lease feedmill.FileLease, ok bool, err error) {
	file, err := os.Open(filepath.Join(string(c.folder), name))
	if err != nil {
		return lease, false, err
	}
	defer file.Close()
	sums, err := parquet.Sum(file, size, file)
	if err != nil {
		return lease, false, err
	}
	c.read = 0
	var out bytes.Buffer
	err = parquet.Extract(countedReader{file, &c.read}, size, sums, columns, rows, &out)
	if errors.Is(err, parquet.ErrNoExtract) {
		c.none++
		return lease, false, nil
	}
	if err != nil {
		return lease, false, err
	}
	c.extracts++
	text := out.Bytes()
	if c.spoil != nil {
		text = c.spoil(text)
	}
	path := filepath.Join(c.t.TempDir(), "extract")
	return feedmill.FileLease{Path: path, Release: func() {}}, true, os.WriteFile(path, text, 0o600)
}

type countedReader struct {
	of interface {
		ReadAt(p []byte, offset int64) (int, error)
	}
	n *int64
}

func (r countedReader) ReadAt(p []byte, offset int64) (int, error) {
	*r.n += int64(len(p))
	return r.of.ReadAt(p, offset)
}

// TestFirstPageOfAnExtract holds that the first page is the same whether it is read from the whole file
// or from an extract, and that everything else is read from the whole file.
func TestFirstPageOfAnExtract(t *testing.T) {
	p, dir := pool(t)
	in := table{columns: []feedmill.Column{
		{ID: "c1", Name: "id", Type: columnar.TypeInteger},
		{ID: "c2", Name: "text", Type: columnar.TypeText},
		{ID: "c3", Name: "n", Type: columnar.TypeInteger},
		{ID: "c4", Name: "kind", Type: columnar.TypeText},
		{ID: "c5", Name: "none", Type: columnar.TypeText},
		{ID: "c6", Name: "m", Type: columnar.TypeInteger},
	}}
	for i := range 260_000 {
		random := uint64(i+1) * 0x9E3779B97F4A7C15
		in.rows = append(in.rows, []cell{
			big.NewRat(int64(i), 1), fmt.Sprintf("text %x", random), big.NewRat(int64(random>>20), 1), fmt.Sprint("kind ", i%7), nil, big.NewRat(int64(random*random>>30), 1),
		})
	}
	v := in.write(t, folder(dir), "head.parquet")
	plain, store := lake.NewReader(folder(dir), p), &cold{folder: folder(dir), t: t}
	r := lake.NewReader(store, p)
	same := func(what string, q feedmill.Query, format wire.Format) {
		t.Helper()
		if got, want := read(t, r, v, q, format), read(t, plain, v, q, format); got != want || got == "" {
			t.Errorf("%s is %.300q, want %.300q", what, got, want)
		}
	}
	for _, fields := range [][]string{{"id"}, {"n", "id"}, {"kind", "none"}, {"m"}, {"none"}, {"n", "kind", "id"}} {
		for _, limit := range []int64{1, 100, 1023, 1024, 50_000} {
			q := feedmill.Query{Limit: limit}
			for _, name := range fields {
				q.Fields = append(q.Fields, feedmill.Field{Name: name})
			}
			for _, format := range []wire.Format{wire.FormatNDJSON, wire.FormatCSV} {
				same(fmt.Sprint(fields, limit), q, format)
			}
		}
	}
	if store.extracts < 50 {
		t.Errorf("%d extracts were made, and %d not", store.extracts, store.none)
	}
	if store.read > v.Files[0].Bytes/3 {
		t.Errorf("of %d bytes %d were read", v.Files[0].Bytes, store.read)
	}
	page, err := r.Read(t.Context(), v, feedmill.Query{Limit: 100, Fields: []feedmill.Field{{Name: "id"}}}, wire.FormatNDJSON, nil, new(bytes.Buffer))
	if err != nil || page.Rows != 100 || page.Next == nil {
		t.Fatalf("a page of an extract: %+v, %v", page, err)
	}
	before := store.extracts
	var second bytes.Buffer
	if _, err := r.Read(t.Context(), v, feedmill.Query{Limit: 100, Fields: []feedmill.Field{{Name: "id"}}}, wire.FormatNDJSON, page.Next, &second); err != nil || !strings.HasPrefix(second.String(), `{"id":100}`) {
		t.Errorf("the second page is %.100q, %v", second.String(), err)
	}
	one := []feedmill.Field{{Name: "id"}}
	same("sorted", feedmill.Query{Limit: 10, Fields: one, Sort: []feedmill.Sort{{Name: "id", Descending: true}}}, wire.FormatNDJSON)
	same("from an offset on", feedmill.Query{Limit: 10, Offset: 200_000, Fields: one}, wire.FormatNDJSON)
	same("of all columns", feedmill.Query{Limit: 10}, wire.FormatNDJSON)
	if store.extracts != before {
		t.Errorf("%d extracts were made of what needs the whole file", store.extracts-before)
	}
	// An extract that cannot be read is no reason to fail.
	for name, spoil := range map[string]func([]byte) []byte{
		"empty": func([]byte) []byte { return nil },
		"cut":   func(b []byte) []byte { return b[:len(b)/2] },
		"hole":  func(b []byte) []byte { clear(b[4 : len(b)/3]); return b },
	} {
		store.spoil = spoil
		same(name, feedmill.Query{Limit: 10, Fields: one}, wire.FormatNDJSON)
	}
	// A damaged range is named, and nothing is returned.
	store.spoil = nil
	path := filepath.Join(dir, "head.parquet")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was := text[100]
	sums, err := parquet.Sum(bytes.NewReader(text), int64(len(text)), bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	text[100]++
	var out bytes.Buffer
	if err := parquet.Extract(bytes.NewReader(text), int64(len(text)), sums, []int{0}, 1024, &out); !errors.Is(err, parquet.ErrDamaged) || !strings.Contains(err.Error(), "from 4 on") {
		t.Errorf("a damaged range: %v", err)
	}
	text[100] = was
	text[len(text)-50]++
	if err := parquet.Extract(bytes.NewReader(text), int64(len(text)), sums, []int{0}, 1024, &out); !errors.Is(err, parquet.ErrDamaged) || !strings.Contains(err.Error(), "the footer") {
		t.Errorf("a damaged footer: %v", err)
	}
}
