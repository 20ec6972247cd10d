package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// randomRows are rows of all types as NDJSON, in a table that is drawn. Every column has a value that tells its type, and rows of nulls can end the table.
func randomRows(random *rand.Rand) string {
	texts := []string{"x", "", "007", "a,b", "c\nd", `"q"`, " s ", "=1+1", "NA", "é中", "-", "1e5", "2026-01-31", "true", "# n", "'a'", "Note: n", "kg", "---", "text", "5", "€ 5", "Total"}
	values := map[string]func(first bool) string{
		"integer": func(bool) string { return fmt.Sprint(random.Int64N(1<<53) - 1<<52) },
		"decimal": func(bool) string { return fmt.Sprintf("%d.%d%d", random.IntN(1000), random.IntN(10), 1+random.IntN(9)) },
		"boolean": func(bool) string { return fmt.Sprint(random.IntN(2) == 0) },
		"date": func(bool) string {
			return fmt.Sprintf(`"%04d-%02d-%02d"`, 1901+random.IntN(200), 1+random.IntN(12), 1+random.IntN(28))
		},
		"timestamp": func(bool) string {
			fraction := []string{"", ".123", ".123456", ".000001"}[random.IntN(4)]
			return fmt.Sprintf(`"%04d-%02d-%02dT%02d:%02d:%02d%sZ"`, 1901+random.IntN(200), 1+random.IntN(12), 1+random.IntN(28), random.IntN(24), random.IntN(60), 1+random.IntN(59), fraction)
		},
		"text": func(first bool) string {
			if first {
				return `"word"`
			}
			quoted, _ := json.Marshal(texts[random.IntN(len(texts))]) // a text can be written
			return string(quoted)
		},
	}
	kinds := []string{"text", "integer", "decimal", "boolean", "date", "timestamp"}
	random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	kinds = kinds[:1+random.IntN(len(kinds))]
	var out strings.Builder
	rows, nulls := 1+random.IntN(12), random.IntN(3)
	for row := range rows + nulls {
		var members []string
		for _, kind := range kinds {
			value := "null"
			if row == 0 || row < rows && random.IntN(5) > 0 {
				value = values[kind](row == 0)
			}
			members = append(members, fmt.Sprintf("%q:%s", kind, value))
		}
		out.WriteString("{" + strings.Join(members, ",") + "}\n")
	}
	return out.String()
}

// TestExportsLaw is a law: what is written in a format has the same values when it is uploaded again, and in JSON, Parquet
// and Arrow the same types.
func TestExportsLaw(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for seed := range decodetest.LongOr(4, 150) {
		rows := randomRows(rand.New(rand.NewPCG(uint64(seed), 7)))
		original := s.upload(t, "", "application/x-ndjson", rows)
		want := s.read(t, original.ID, "")
		for _, format := range []string{"csv", "json", "ndjson", "xlsx", "parquet", "arrow"} {
			data := s.export(t, original.ID, format)
			again := s.upload(t, "&format="+format, "application/octet-stream", data)
			got := s.read(t, again.ID, "")
			if format == "csv" || format == "xlsx" {
				// Types are found again, and may be others where texts look like something else.
				if got, values := asTexts(t, got), asTexts(t, want); got != values {
					t.Errorf("table %d as %s is\n%swant\n%s", seed, format, got, values)
				}
				continue
			}
			if again.types() != original.types() || got != want {
				t.Errorf("table %d as %s is %s\n%swant %s\n%s", seed, format, again.types(), got, original.types(), want)
			}
		}
	}
}

// asTexts are the rows of NDJSON with every value as the text that it is written as.
func asTexts(t *testing.T, rows string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(rows) {
		var row map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		for name, value := range row {
			if value[0] != '"' && value[0] != 'n' {
				row[name] = fmt.Appendf(nil, "%q", value)
			}
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", text)
	}
	return out.String()
}

// TestRowsAddUp is a law: the rows of a load are stored, rejected, superseded by a later row of the same key, or known, in every
// format.
func TestRowsAddUp(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	random := rand.New(rand.NewPCG(5, 6))
	write := map[string]func(rows [][2]int) string{
		"csv": func(rows [][2]int) string { return separated(rows, ",") }, "tsv": func(rows [][2]int) string { return separated(rows, "\t") },
		"ndjson": func(rows [][2]int) string { return objects(rows, "", "\n", "") }, "json": func(rows [][2]int) string { return objects(rows, "[", ",", "]") },
		"xml": func(rows [][2]int) string {
			out := "<rows>"
			for _, r := range rows {
				out += fmt.Sprintf("<row><k>%d</k><v>%d</v></row>", r[0], r[1])
			}
			return out + "</rows>"
		},
	}
	for _, format := range decodetest.Workbooks {
		write[format+" workbook"] = func(rows [][2]int) string {
			cells := [][]string{{"k", "v"}}
			for _, r := range rows {
				cells = append(cells, []string{strconv.Itoa(r[0]), strconv.Itoa(r[1])})
			}
			return string(decodetest.Workbook(t, format, cells))
		}
	}
	for _, format := range []string{"xlsx", "parquet", "arrow"} {
		write[format] = func(rows [][2]int) string {
			return s.export(t, s.upload(t, "", "text/csv", separated(rows, ",")).ID, format)
		}
	}
	for range decodetest.LongOr(1, 12) {
		for name, writes := range write {
			var feed shownFeed
			format, _, _ := strings.Cut(name, " ")
			for load := range 3 {
				var rows [][2]int
				for range 2 + random.IntN(12) {
					rows = append(rows, [2]int{random.IntN(6), random.IntN(3)})
				}
				method, path := "PUT", "/data_feeds/"+feed.ID+"/data?mode=merge&key=k&format="+format
				if load == 0 {
					method, path = "POST", "/data_feeds?type=dataUpload&mode=merge&key=k&format="+format
				}
				s.sendData(t, method, path, "application/octet-stream", writes(rows)).data(t, &feed)
				var runs []struct{ RowsIn, RowsStored, RowsRejected, RowsSuperseded, RowsKnown int64 }
				list := s.send(t, request{method: "GET", path: "/data_feeds/" + feed.ID + "/refreshes?limit=1"})
				if err := json.Unmarshal([]byte(list.body), &runs); err != nil || len(runs) != 1 {
					t.Fatalf("%v: %s", err, list.body)
				}
				keys := make(map[int]int)
				for _, r := range rows {
					keys[r[0]]++
				}
				r := runs[0]
				if r.RowsIn != int64(len(rows)) || r.RowsIn != r.RowsStored+r.RowsRejected+r.RowsSuperseded+r.RowsKnown || r.RowsSuperseded != int64(len(rows)-len(keys)) {
					t.Errorf("%s, load %d of %v: %+v", name, load, rows, r)
				}
			}
		}
	}
}

func separated(rows [][2]int, delimiter string) string {
	out := "k" + delimiter + "v\n"
	for _, r := range rows {
		out += fmt.Sprint(r[0], delimiter, r[1], "\n")
	}
	return out
}

func objects(rows [][2]int, before, between, behind string) string {
	var all []string
	for _, r := range rows {
		all = append(all, fmt.Sprintf(`{"k":%d,"v":%d}`, r[0], r[1]))
	}
	return before + strings.Join(all, between) + behind
}
