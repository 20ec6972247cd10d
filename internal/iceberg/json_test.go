package iceberg

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/parquet"
)

// ClickHouse reads JSON of every kind as text, because the schema of the table says so.
func TestClickHouseReadsJSON(t *testing.T) {
	if os.Getenv("FEEDMILL_LONG") == "" {
		t.Skip("this is for FEEDMILL_LONG=1")
	}
	s := newStore(t, "")
	columns := []feedmill.Column{{ID: "c1", Name: "json", Type: columnar.TypeJSON}}
	values := []string{`[1, 2]`, `{"a":null}`, `"x"`, `7`}
	v := columnar.Vector{Type: columnar.TypeJSON, Len: len(values), Offsets: []uint32{0}}
	for _, value := range values {
		v.Bytes = append(v.Bytes, value...)
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, columns, parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(context.Background(), []columnar.Vector{v}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.put(Object{"data/a.parquet", out.Bytes()})
	file := DataFile{Path: s.table.Location + "/data/a.parquet", Rows: int64(v.Len), Bytes: int64(out.Len()), Columns: columns}
	if file.Statistics, err = ReadStatistics("a", bytes.NewReader(out.Bytes()), file.Bytes, columns); err != nil {
		t.Fatal(err)
	}
	s.commit(Version{Number: 1, Columns: columns, Files: []DataFile{file}})
	found := runReader(t, "clickhouse", "clickhouse.mjs", s.folder)
	for i, value := range values {
		if got := found["1"][i]["json"]; got != value {
			t.Errorf("row %d is %v, want %s", i, got, value)
		}
	}
}
