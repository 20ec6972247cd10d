package worker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// A version without columns is a table with nothing in it, in every format.
func TestVersionWithoutColumns(t *testing.T) {
	r, store := reader(t)
	v, err := lake.Write(t.Context(), store, "empty", typed(nil, []columnar.Vector{}))
	if err != nil || v.Rows != 0 || v.Bytes == 0 || v.ContentHash == "" {
		t.Fatalf("%+v, %v", v, err)
	}
	for format, want := range map[wire.Format]string{wire.FormatJSON: "[]\n", wire.FormatNDJSON: "", wire.FormatCSV: ""} {
		if got := read(t, r, &v, feedmill.Query{Limit: 10}, format); got != want {
			t.Errorf("%s: %q", format, got)
		}
	}
	stream, err := ipc.NewReader(strings.NewReader(read(t, r, &v, feedmill.Query{}, wire.FormatArrow)))
	if err != nil || stream.Schema().NumFields() != 0 || stream.Next() {
		t.Errorf("arrow: %v", err)
	}
	parquet, err := file.NewParquetReader(strings.NewReader(read(t, r, &v, feedmill.Query{}, wire.FormatParquet)))
	if err != nil {
		t.Fatal(err)
	}
	defer parquet.Close()
	if parquet.NumRows() != 0 || parquet.MetaData().Schema.NumColumns() != 0 {
		t.Errorf("parquet: %d rows of %d columns", parquet.NumRows(), parquet.MetaData().Schema.NumColumns())
	}
	_, err = lake.Plan(&v, "empty", feedmill.Query{Fields: []feedmill.Field{{Name: "a"}}}, wire.FormatJSON, nil)
	if !errors.Is(err, feedmill.ErrInvalid) {
		t.Errorf("a field of it: %v", err)
	}
}

// Rows come to a version that had no columns.
func TestCombiningWithAVersionWithoutColumns(t *testing.T) {
	r, store := reader(t)
	empty, err := lake.Write(t.Context(), store, "empty", typed(nil))
	if err != nil {
		t.Fatal(err)
	}
	text := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	words := one(t, store, "words", text, "x")
	for _, c := range []lake.Combination{{Old: &empty, New: words}, {Old: words, New: &empty}, {Old: words, New: &empty, Key: []string{"a"}}} {
		c.Columns = []feedmill.Column{text}
		v, err := r.Combine(t.Context(), "both", c)
		if err != nil {
			t.Fatal(err)
		}
		if v.ContentHash != words.ContentHash {
			t.Errorf("rows %q", read(t, r, &v.Version, feedmill.Query{}, wire.FormatCSV))
		}
	}
}
