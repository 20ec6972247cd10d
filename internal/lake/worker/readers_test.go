package worker_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// foundFile is what an independent reader found in a file.
type foundFile struct {
	Fields []foundField `json:"fields"`
	Rows   [][]*string  `json:"rows"`
}

// foundField is a column; what Arrow has no word for is empty.
type foundField struct {
	Name      string `json:"name"`
	ID        int    `json:"id"`
	Physical  string `json:"physical"`
	Length    int    `json:"length"`
	Converted string `json:"converted"`
	Precision int    `json:"precision"`
	Scale     int    `json:"scale"`
}

// TestIndependentReaders has readers that share no code with Feedmill read the files of
// versions and their exports: hyparquet and apache-arrow, both in JavaScript.
func TestIndependentReaders(t *testing.T) {
	r, store := reader(t)
	in := everyWidth(1000)
	v := in.write(t, store, "stored.parquet")
	every := make([]int, len(in.columns))
	for i := range every {
		every[i] = i
	}
	picked := feedmill.Query{Fields: []feedmill.Field{{Name: "d19"}, {Name: "at"}, {Name: "a.b.c"}, {Name: "d5", As: "renamed"}}}
	totals := feedmill.Query{Fields: []feedmill.Field{{Name: "flag"}, {Name: "d5", As: "sum", Aggregate: feedmill.AggregateSum}, {Name: "d10", As: "max", Aggregate: feedmill.AggregateMax}}}
	export := func(name string, q feedmill.Query, format wire.Format) string {
		path := filepath.Join(string(store), name)
		if err := os.WriteFile(path, []byte(read(t, r, v, q, format)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	found := readWithOthers(t, "readers", filepath.Join(string(store), "stored.parquet"),
		export("all.parquet", feedmill.Query{}, wire.FormatParquet), export("all.arrow", feedmill.Query{}, wire.FormatArrow),
		export("picked.parquet", picked, wire.FormatParquet), export("picked.arrow", picked, wire.FormatArrow),
		export("totals.parquet", totals, wire.FormatParquet))

	some := []int{in.at("d19"), in.at("at"), in.at("a.b.c"), in.at("d5")}
	for i, columns := range [][]int{every, every, every, some, some} {
		name := []string{"stored.parquet", "all.parquet", "all.arrow", "picked.parquet", "picked.arrow"}[i]
		in.compareFound(t, name, columns, found[i])
		if filepath.Ext(name) == ".parquet" {
			in.compareLayout(t, name, columns, found[i].Fields)
		}
	}
	for i, want := range []int{in.columns[in.at("flag")].Number(), 0, 0} {
		if got := found[5].Fields[i].ID; got != want {
			t.Errorf("field %d of the totals has the id %d, want %d", i, got, want)
		}
	}
}

// TestClickHouse has ClickHouse read the files of versions and their exports. It is for
// FEEDMILL_LONG=1, because ClickHouse is large; make clickhouse installs it.
func TestClickHouse(t *testing.T) {
	if os.Getenv("FEEDMILL_LONG") == "" {
		t.Skip("this is for FEEDMILL_LONG=1; TestIndependentReaders runs every time")
	}
	r, store := reader(t)
	in := everyWidth(20_000)
	v := in.write(t, store, "stored.parquet")
	path := filepath.Join(string(store), "all.parquet")
	if err := os.WriteFile(path, []byte(read(t, r, v, feedmill.Query{}, wire.FormatParquet)), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, found := range readWithOthers(t, "clickhouse", filepath.Join(string(store), "stored.parquet"), path) {
		every := make([]int, len(in.columns))
		for c := range every {
			every[c] = c
			got, want := found.Fields[c], in.columns[c]
			if got.Name != want.Name || got.Precision != want.Precision || got.Scale != want.Scale {
				t.Errorf("file %d: column %q is %+v", i, want.Name, got)
			}
		}
		in.compareFound(t, fmt.Sprintf("file %d", i), every, found)
	}
}

// everyWidth is a table with decimals of every width at which their layout changes. The ids
// of its columns differ from their positions.
func everyWidth(rows int) *table {
	in := &table{columns: []feedmill.Column{
		{ID: "c12", Name: "d5", Type: columnar.TypeDecimal, Precision: 5, Scale: 2},
		{ID: "c3", Name: "d9", Type: columnar.TypeDecimal, Precision: 9, Scale: 9},
		{ID: "c1", Name: "d10", Type: columnar.TypeDecimal, Precision: 10},
		{ID: "c7", Name: "d18", Type: columnar.TypeDecimal, Precision: 18, Scale: 4},
		{ID: "c8", Name: "d19", Type: columnar.TypeDecimal, Precision: 19, Scale: 1},
		{ID: "c9", Name: "d38", Type: columnar.TypeDecimal, Precision: 38, Scale: 20},
		{ID: "c20", Name: "whole", Type: columnar.TypeInteger},
		{ID: "c21", Name: "a.b.c", Type: columnar.TypeText},
		{ID: "c22", Name: "at", Type: columnar.TypeTimestamp},
		{ID: "c23", Name: "day", Type: columnar.TypeDate},
		{ID: "c24", Name: "number", Type: columnar.TypeNumber},
		{ID: "c25", Name: "flag", Type: columnar.TypeBoolean},
		{ID: "c26", Name: "json", Type: columnar.TypeJSON},
	}}
	random := rand.New(rand.NewPCG(7, 11))
	for i := range rows {
		row := make([]cell, len(in.columns))
		for c := range in.columns {
			if random.IntN(5) > 0 {
				row[c] = randomCell(random, &in.columns[c], i)
			}
		}
		in.rows = append(in.rows, row)
	}
	return in
}

// randomCell is a value with all digits of its type, the greatest or least one, or one of few.
func randomCell(random *rand.Rand, c *feedmill.Column, row int) cell {
	switch c.Type {
	case columnar.TypeDecimal:
		most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Precision)), nil)
		n := new(big.Int).Mod(new(big.Int).Mul(new(big.Int).SetUint64(random.Uint64()), new(big.Int).SetUint64(random.Uint64())), most)
		switch row % 4 {
		case 0:
			n.Sub(most, big.NewInt(1))
		case 1:
			n.SetInt64(random.Int64N(100))
		}
		if random.IntN(2) == 0 {
			n.Neg(n)
		}
		return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil))
	case columnar.TypeTimestamp:
		return time.UnixMicro(random.Int64N(6e15) - 2e15).UTC() // from 1906 on; ClickHouse has no time before 1900
	case columnar.TypeDate:
		return time.Unix(86400*(random.Int64N(60_000)-25_000), 0).UTC()
	case columnar.TypeText:
		return texts[random.IntN(len(texts))]
	case columnar.TypeJSON:
		return jsons[random.IntN(len(jsons))]
	case columnar.TypeBoolean:
		return random.IntN(2) == 0
	case columnar.TypeNumber:
		return random.NormFloat64() * 1e10
	}
	return new(big.Rat).SetInt64(int64(random.Uint64()))
}

func (t *table) at(name string) int {
	for i := range t.columns {
		if t.columns[i].Name == name {
			return i
		}
	}
	panic(name)
}

// compareFound compares the values of some columns with those that were found.
func (t *table) compareFound(f *testing.T, name string, columns []int, found foundFile) {
	f.Helper()
	if len(found.Rows) != len(t.rows) || len(found.Fields) != len(columns) {
		f.Fatalf("%s has %d rows of %d columns, want %d of %d", name, len(found.Rows), len(found.Fields), len(t.rows), len(columns))
	}
	block := t.vectors()
	for i, c := range columns {
		for row := range t.rows {
			got := "null"
			if found.Rows[row][i] != nil {
				got = *found.Rows[row][i]
			}
			if want := unscaled(&block[c], row); got != want {
				f.Errorf("%s: row %d of column %q is %s, want %s", name, row, t.columns[c].Name, got, want)
				break
			}
		}
	}
}

// unscaled is a value as the independent readers print it.
func unscaled(v *columnar.Vector, i int) string {
	switch {
	case v.Null(i):
		return "null"
	case v.Type == columnar.TypeBoolean:
		return fmt.Sprint(v.Ints[i] == 1)
	case v.Offsets != nil:
		return string(v.Text(i))
	case v.Wide != nil:
		return v.Wide[i].Decimal(0)
	case v.Floats != nil:
		return fmt.Sprintf("%x", math.Float64bits(v.Floats[i]))
	}
	return fmt.Sprint(v.Ints[i])
}

// compareLayout compares the columns of a Parquet file with those that Iceberg prescribes.
func (t *table) compareLayout(f *testing.T, name string, columns []int, fields []foundField) {
	f.Helper()
	for i, at := range columns {
		c, got := &t.columns[at], fields[i]
		want := foundField{Name: got.Name, ID: c.Number(), Precision: c.Precision, Scale: c.Scale}
		switch c.Type {
		case columnar.TypeDecimal:
			want.Converted = "DECIMAL"
			switch {
			case c.Precision <= 9:
				want.Physical = "INT32"
			case c.Precision <= 18:
				want.Physical = "INT64"
			default:
				want.Physical, want.Length = "FIXED_LEN_BYTE_ARRAY", map[int]int{19: 9, 38: 16}[c.Precision]
			}
		case columnar.TypeInteger:
			want.Physical, want.Converted = "INT64", "INT_64"
		case columnar.TypeTimestamp:
			want.Physical, want.Converted = "INT64", "TIMESTAMP_MICROS"
		case columnar.TypeDate:
			want.Physical, want.Converted = "INT32", "DATE"
		case columnar.TypeText:
			want.Physical, want.Converted = "BYTE_ARRAY", "UTF8"
		case columnar.TypeJSON:
			want.Physical, want.Converted = "BYTE_ARRAY", "JSON"
		case columnar.TypeNumber:
			want.Physical = "DOUBLE"
		case columnar.TypeBoolean:
			want.Physical = "BOOLEAN"
		}
		if got != want {
			f.Errorf("%s: column %q is %+v, want %+v", name, c.Name, got, want)
		}
	}
}

// readWithOthers reads files with programs that make installs.
func readWithOthers(t *testing.T, with string, files ...string) (found []foundFile) {
	t.Helper()
	modules, err := filepath.Abs("../../../bin/tools/" + with)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "installed")); err != nil {
		t.Fatalf("independent readers are not installed; run make %s, which fetches them from the npm registry: %v", with, err)
	}
	command := exec.CommandContext(t.Context(), "node", append([]string{"testdata/" + with + ".mjs", filepath.Join(modules, "node_modules")}, files...)...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &found); err != nil || len(found) != len(files) {
		t.Fatalf("%d files: %v", len(found), err)
	}
	return found
}
