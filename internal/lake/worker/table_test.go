package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// folder is a store of blobs that has what these tests need.
type folder string

func (f folder) Put(_ context.Context, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(string(f), name), b.Bytes(), 0o600)
}

func (f folder) Lease(_ context.Context, name string) (feedmill.FileLease, error) {
	return feedmill.FileLease{Path: filepath.Join(string(f), name), Release: func() {}}, nil
}

// LeaseHead reports that files are on the local disk.
func (folder) LeaseHead(context.Context, string, int64, []int, int64) (lease feedmill.FileLease, ok bool, err error) {
	return lease, false, nil
}

// cell is a value as the tests see it: nil for null, else a *big.Rat (integer,
// decimal), float64, bool, time.Time (date, timestamp) or string (text, json).
type cell any

// table is rows in memory and the version that was written of them.
type table struct {
	columns []feedmill.Column
	rows    [][]cell
}

// kinds has a column of every type.
var kinds = []feedmill.Column{
	{Name: "id", Type: columnar.TypeInteger},
	{Name: "text", Type: columnar.TypeText},
	{Name: "Text", Type: columnar.TypeText}, // differs from another in its case alone
	{Name: "integer", Type: columnar.TypeInteger},
	{Name: "decimal", Type: columnar.TypeDecimal, Precision: 4, Scale: 2},
	{Name: "wide \"'", Type: columnar.TypeDecimal, Precision: 30, Scale: 10},
	{Name: "number", Type: columnar.TypeNumber},
	{Name: "boolean", Type: columnar.TypeBoolean},
	{Name: "date", Type: columnar.TypeDate},
	{Name: "timestamp", Type: columnar.TypeTimestamp},
	{Name: "json", Type: columnar.TypeJSON},
}

var (
	texts    = []string{"", "a", "A", "ab", "b", "É", "é", "x\ny", "it's", "100%", "a_b", "\"q\"", strings.Repeat("long ", 10), "日本"}
	numbers  = []string{"-1", "0", "0.5", "1", "1.25", "2", "3.005", "12.34", "99.99", "-99.99", "100", "1e2", "9223372036854775807", "-9223372036854775808", "1e30", "-1e30"}
	days     = []string{"1969-12-31", "2024-02-28", "2024-02-29", "2024-03-01", "2026-01-01"}
	moments  = []string{"1969-12-31T23:59:59.999999Z", "2024-02-29T00:00:00Z", "2024-02-29T12:30:00.5Z", "2024-02-29T23:59:59Z", "2024-03-01T00:00:00Z", "2024-03-31T01:30:00Z"}
	jsons    = []string{`""`, `[]`, `{}`, `[1, 2]`, `{"a":null}`, `"x"`}
	firstOf  = func(words []string) *rapid.Generator[string] { return rapid.SampledFrom(words) }
	presence = rapid.IntRange(0, 4)
)

// drawCell draws a value of a column, from few, so that values meet.
func drawCell(t *rapid.T, c *feedmill.Column) cell {
	if c.Name != "id" && presence.Draw(t, "there") == 0 {
		return nil
	}
	switch c.Type {
	case columnar.TypeText:
		return firstOf(texts).Draw(t, "text")
	case columnar.TypeJSON:
		return firstOf(jsons).Draw(t, "json")
	case columnar.TypeBoolean:
		return rapid.Bool().Draw(t, "boolean")
	case columnar.TypeNumber:
		return rapid.SampledFrom([]float64{-1, 0, math.Copysign(0, -1), 0.5, 1, 100, 1e30, math.Inf(1), math.NaN(), 0.1}).Draw(t, "number")
	case columnar.TypeDate:
		return moment(firstOf(days).Draw(t, "date"))
	case columnar.TypeTimestamp:
		return moment(firstOf(moments).Draw(t, "timestamp"))
	case columnar.TypeDecimal:
		n := rapid.Int64Range(-9999, 9999).Draw(t, "decimal")
		if rapid.Bool().Draw(t, "whole") {
			n = n / 1000 * 100
		}
		return big.NewRat(n, 100)
	}
	return new(big.Rat).SetInt64(rapid.SampledFrom([]int64{-1, 0, 1, 2, 100, math.MaxInt64, math.MinInt64}).Draw(t, "integer"))
}

func moment(text string) time.Time {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	panic(text)
}

func drawTable(t *rapid.T, rows int) *table {
	out := &table{columns: kinds}
	for id := range rows {
		row := make([]cell, len(kinds))
		for i := range kinds {
			row[i] = drawCell(t, &kinds[i])
		}
		row[0] = new(big.Rat).SetInt64(int64(id))
		out.rows = append(out.rows, row)
	}
	return out
}

// vectors makes one block of the rows.
func (t *table) vectors() []columnar.Vector {
	block := make([]columnar.Vector, len(t.columns))
	for i := range block {
		c := &t.columns[i]
		v := columnar.Vector{Type: c.Type, Len: len(t.rows), Precision: c.Precision, Scale: c.Scale, Valid: make([]uint64, (len(t.rows)+63)/64)}
		if c.Type == columnar.TypeText || c.Type == columnar.TypeJSON {
			v.Offsets = []uint32{0}
		}
		for r, row := range t.rows {
			if row[i] != nil {
				v.Valid[r>>6] |= 1 << (r & 63)
			}
			push(&v, row[i])
		}
		block[i] = v
	}
	return block
}

func push(v *columnar.Vector, value cell) {
	switch v.Type {
	case columnar.TypeText, columnar.TypeJSON:
		if value != nil {
			v.Bytes = append(v.Bytes, value.(string)...)
		}
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	case columnar.TypeNumber:
		f, _ := value.(float64)
		v.Floats = append(v.Floats, f)
	case columnar.TypeBoolean:
		n := int64(0)
		if value == true {
			n = 1
		}
		v.Ints = append(v.Ints, n)
	case columnar.TypeDate, columnar.TypeTimestamp:
		n := int64(0)
		if value != nil {
			n = value.(time.Time).UnixMicro()
		}
		if v.Type == columnar.TypeDate {
			n = int64(math.Floor(float64(n) / 86400e6))
		}
		v.Ints = append(v.Ints, n)
	default:
		n := new(big.Int)
		if value != nil {
			scaled := new(big.Rat).Mul(value.(*big.Rat), new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)))
			n = scaled.Num()
		}
		if v.Precision > columnar.NarrowDigits {
			lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
			v.Wide = append(v.Wide, columnar.Int128{Hi: new(big.Int).Rsh(n, 64).Int64(), Lo: lo.Uint64()})
		} else {
			v.Ints = append(v.Ints, n.Int64())
		}
	}
}

// typed is a table of runs without an error.
func typed(columns []feedmill.Column, runs ...[]columnar.Vector) feedmill.TypedTable {
	return feedmill.TypedTable{Columns: columns, Runs: func(yield func([]columnar.Vector, error) bool) {
		for _, run := range runs {
			if !yield(run, nil) {
				return
			}
		}
	}}
}

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func (t *table) write(f failer, store folder, name string) *lake.Version {
	f.Helper()
	v, err := lake.Write(context.Background(), store, name, typed(t.columns, t.vectors()))
	if err != nil {
		f.Fatal(err)
	}
	return &v
}

// reader is a reader over a folder of the test's own.
func reader(t testing.TB, change ...func(*lake.PoolConfig)) (*lake.Reader, folder) {
	t.Helper()
	p, dir := pool(t, change...)
	return lake.NewReader(folder(dir), p), folder(dir)
}

func read(f failer, r *lake.Reader, v *lake.Version, q feedmill.Query, format wire.Format) string {
	f.Helper()
	var out strings.Builder
	if _, err := r.Read(context.Background(), v, q, format, nil, &out); err != nil {
		f.Fatal(fmt.Errorf("%+v: %w", q, err))
	}
	return out.String()
}
