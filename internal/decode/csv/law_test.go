package csv

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// The files of csv-spectrum are read as their twins in JSON say.
func TestCSVSpectrum(t *testing.T) {
	files, err := filepath.Glob("testdata/csv-spectrum/csvs/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		if name == "location_coordinates" {
			continue // its twin holds another record
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			twin, err := os.ReadFile(filepath.Join("testdata/csv-spectrum/json", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var want []map[string]string
			if err := json.Unmarshal(twin, &want); err != nil {
				t.Fatal(err)
			}
			read := readCSV(t, string(data))
			var got []map[string]string
			for _, row := range read.rows {
				record := map[string]string{}
				for i, text := range row {
					record[read.names[i]] = strings.Trim(text, `∅`)
					if text == decodetest.QuotedEmpty {
						record[read.names[i]] = ""
					}
				}
				got = append(got, record)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(read.warnings) > 0 {
				t.Errorf("warnings %q, differs (-want +got):\n%s", read.warnings, diff)
			}
		})
	}
}

// One file of csv-spectrum has quotes where none may be.
func TestCSVSpectrumCoordinates(t *testing.T) {
	data, err := os.ReadFile("testdata/csv-spectrum/csvs/location_coordinates.csv")
	if err != nil {
		t.Fatal(err)
	}
	got := readCSV(t, string(data))
	want := table{
		names:    []string{"Contact Phone Number", "Location Coordinates", "Cities", "Counties"},
		rows:     [][]string{{"2095257564", `37�36'37.8"N 121�2'17.9"W`, "Modesto", "Stanislaus"}},
		warnings: []string{"broken-quote 1 1"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(table{})); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// A table that is written in any dialect is read as it was.
func TestCSVReadsWhatIsWritten(t *testing.T) {
	texts := rapid.OneOf(
		rapid.SampledFrom([]string{"", "x", "1", "2026-01-01", "-5.25", "it's", "ü€😀", " spaced ", "007", "a.b"}),
		rapid.StringOfN(rapid.SampledFrom([]rune(`ab "',;|`+"\t\r\nü")), 0, 8, -1),
	)
	rapid.Check(t, func(rt *rapid.T) {
		delimiter := rapid.SampledFrom([]string{",", ";", "\t", "|"}).Draw(rt, "delimiter")
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "newline")
		columns := rapid.IntRange(2, 5).Draw(rt, "columns")
		quoteAll := rapid.Bool().Draw(rt, "quoteAll")
		rows := rapid.SliceOfN(rapid.SliceOfN(texts, columns, columns), 3, 30).Draw(rt, "rows")
		names := []string{"alpha", "beta", "gamma", "delta", "epsilon"}[:columns]

		var out strings.Builder
		write := func(row []string) {
			for i, text := range row {
				if i > 0 {
					out.WriteString(delimiter)
				}
				if quoteAll || strings.ContainsAny(text, "\"\r\n"+delimiter) || strings.HasPrefix(text, " ") {
					out.WriteString(`"` + strings.ReplaceAll(text, `"`, `""`) + `"`)
				} else {
					out.WriteString(text)
				}
			}
			out.WriteString(newline)
		}
		write(names)
		for _, row := range rows {
			write(row)
		}
		c, err := openCSV(t, out.String())
		if err != nil {
			rt.Fatal(err)
		}
		if string(c.Dialect.Delimiter) != delimiter {
			rt.Skip("another delimiter explains the data as well")
		}
		for last := len(rows) - 1; last >= 0 && !quoteAll && strings.Join(rows[last], "") == ""; last-- {
			rows = rows[:last] // rows of delimiters at the end are none
		}
		warnings, err := c.Warnings()
		if err != nil {
			rt.Fatal(err)
		}
		if slices.ContainsFunc(warnings, func(w feedmill.Warning) bool { return w.Code == feedmill.WarnFooter }) {
			rt.Skip("a last row of which only the first cell is filled may be a note")
		}
		got := decodetest.Rows(t, c)
		for i := range got {
			for j, text := range got[i] {
				if text == decodetest.QuotedEmpty {
					got[i][j] = ""
				}
			}
		}
		if !slices.Equal(c.Names(), names) || !slices.EqualFunc(got, rows, slices.Equal) {
			rt.Fatalf("%q was read as %q %q", out.String(), c.Names(), got)
		}
	})
}

// Wherever the ends of chunks fall, and wherever the first fault is, a file is read
// as if by the tolerant scanner alone.
func TestCSVChunksAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"1,2,3\n", "\"a\",\"b, \"\"c\"\"\",\"d\ne\"\n", "x,,\"\"\r\n", "\n", "short\n", "1,2,3,4\n", "\"\r\n\",\"\n\n\",\",\"\n",
		}), 1, 6).Draw(rt, "lines")
		unit := strings.Join(lines, "")
		head := "a,b,c\n" + strings.Repeat("z", rapid.IntRange(0, 100).Draw(rt, "shift")) + ",y,x\n"
		data := head + strings.Repeat(unit, rapid.IntRange(1, 50).Draw(rt, "units"))
		chunk := rapid.Int64Range(16, 600).Draw(rt, "chunk")
		if rapid.Bool().Draw(rt, "fault") {
			at := strings.LastIndex(data[:rapid.IntRange(len(head), len(data)).Draw(rt, "at")], unit[len(unit)-1:]) + 1
			data = data[:at] + rapid.SampledFrom([]string{"5\" pipe,x\n", "\"open\n", "a\rb,c,d\n"}).Draw(rt, "broken") + data[at:]
		}
		c, err := openChunks(t, data, chunk)
		if err != nil {
			rt.Fatal(err)
		}
		got := decodetest.Rows(t, c)
		alone, err := openChunks(t, data, chunk)
		if err != nil {
			rt.Fatal(err)
		}
		rest := &tolerantReader{table: alone, offset: alone.begin}
		if err := rest.scan(t.Context(), func(*columnar.Cells) error { return nil }); err != nil {
			rt.Fatal(err)
		}
		alone.whole = true
		want := decodetest.Rows(t, alone)
		if diff := cmp.Diff(c.ragged, alone.ragged, cmp.AllowUnexported(raggedness{}, oddLines{})) + cmp.Diff(c.broken, alone.broken, cmp.AllowUnexported(brokenQuotes{})); diff != "" {
			rt.Fatalf("what was noticed differs: %s", diff)
		}
		if again := decodetest.Rows(t, c); !slices.EqualFunc(got, want, slices.Equal) || !slices.EqualFunc(again, want, slices.Equal) {
			rt.Fatalf("the rows of %q differ", unit)
		}
	})
}

// FuzzCSVFile reads any file as a whole, twice.
func FuzzCSVFile(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\ufeffa;b\n\"1\";2", "x\ny\n\n(2 rows)\n", "# note\n\na|b\n1|2|3\n'", "\"a\\\"b\",c\n1,2\n", "a,b\r1,2\r", "'a','b'\n'c','d'\n"} {
		f.Add([]byte(seed), uint8(16))
	}
	f.Fuzz(func(t *testing.T, data []byte, chunk uint8) {
		if chunk < 8 || len(data) > 1<<12 || bytes.Contains(data, []byte(decodetest.QuotedEmpty)) {
			return
		}
		c, err := openChunks(t, string(data), int64(chunk))
		if err != nil {
			return
		}
		first := decodetest.Rows(t, c)
		if second := decodetest.Rows(t, c); !slices.EqualFunc(first, second, slices.Equal) {
			t.Fatalf("the second reading differs: %s", cmp.Diff(first, second))
		}
		for _, row := range first {
			if len(row) != len(c.Names()) {
				t.Fatalf("a row has %d fields of %d", len(row), len(c.Names()))
			}
		}
		if _, err := c.Warnings(); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzCSV holds the two scanners against each other and against encoding/csv,
// wherever that accepts the data.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "a,b\r\n\"x\"\"y\",\"z\n\"\r\n", "\"a\",b\n,\"\"\n", "a\n\n\nb\n", "x,5\" y\n\"a\"b,c\n", "a,b\n\"open,\n1,2\n",
		"1;2\n\"3\";4", "a,b\rc,d\r", " \"a\" ,b\n1,2,3\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if strings.ContainsAny(data, "\x00"+decodetest.QuotedEmpty) || !utf8.ValidString(data) || len(data) > 1<<12 {
			return
		}
		dialect := Dialect{Delimiter: ',', Quote: '"', Escape: '"', Newline: '\n'}
		columns := 1 + strings.Count(strings.SplitN(data, "\n", 2)[0], ",")
		if columns > 50 {
			return // most cells would be missing
		}
		fast, fine := scanAll(t, data, dialect, columns, false)
		slow, _ := scanAll(t, data, dialect, columns, true)
		if fine && !slices.EqualFunc(fast, slow, slices.Equal) {
			t.Fatalf("%q: the scanners differ: %s", data, cmp.Diff(fast, slow))
		}
		reader := csv.NewReader(strings.NewReader(data))
		reader.FieldsPerRecord = -1
		want, err := reader.ReadAll()
		if err != nil || strings.Contains(strings.ReplaceAll(data, "\r\n", ""), "\r") {
			return
		}
		if !fine {
			// A line end is added to what ends without one, which
			// encoding/csv accepts inside of quotes too.
			t.Fatalf("%q: encoding/csv accepts what the scanner does not", data)
		}
		got := slices.DeleteFunc(fast, func(row []string) bool { return len(row) == 1 && row[0] == "" })
		for _, row := range got {
			for i := range row {
				if row[i] == decodetest.QuotedEmpty {
					row[i] = ""
				}
				// encoding/csv turns the line ends inside of fields into line feeds.
				row[i] = strings.ReplaceAll(row[i], "\r\n", "\n")
			}
		}
		want = slices.DeleteFunc(want, func(row []string) bool { return len(row) == 1 && row[0] == "" })
		got = slices.DeleteFunc(got, func(row []string) bool { return len(row) == 1 && row[0] == "" })
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%q: differs from encoding/csv: %s", data, cmp.Diff(want, got))
		}
	})
}

// scanAll reads data with one of the two scanners, without missing cells.
func scanAll(t *testing.T, data string, dialect Dialect, columns int, slow bool) (rows [][]string, fine bool) {
	t.Helper()
	text := &input.Text{Source: strings.NewReader(data), Encoding: input.UTF8, Survey: input.NewSurvey(input.ChunkSize)}
	c := &Table{limits: &usual, Dialect: dialect, text: text, end: text.Size(), columns: columns, names: make([]string, columns)}
	scan := c.scanner()
	defer scanners.Put(scan)
	if slow {
		rest := &tolerantReader{table: c}
		for rest.next(&scan.cells) == nil {
			rows = append(rows, rowsOf(&scan.cells)...)
		}
		return rows, true
	}
	if err := scan.load(text, 0, c.end); err != nil {
		t.Fatal(err)
	}
	if !scan.block.scan(scan.records) {
		return nil, false
	}
	if err := scan.block.emit(0, columns, collect(&rows)); err != nil {
		t.Fatal(err)
	}
	return rows, true
}
