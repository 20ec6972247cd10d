package xml

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// refusal is a document that is refused, and how.
type refusal struct {
	name, document string
	options        Options
	kind           error
	detail         string
}

func TestTableRefuses(t *testing.T) {
	mustRefuse(t, []refusal{
		{"nothing", "", Options{}, feedmill.ErrInvalid, "the data is empty"},
		{"blanks", "\ufeff \n", Options{}, feedmill.ErrInvalid, "the data is empty"},
		{"no XML", "a,b\n1,2\n", Options{}, feedmill.ErrUnprocessable, "the XML is not valid at line 1, column 1 (byte 0): a document must start with the tag of its root element"},
		{"a wrong tag", "<r>\n<a></b></r>", Options{}, feedmill.ErrUnprocessable, "the XML is not valid at line 2, column 6 (byte 9): found the end tag </b>"},
		{"wrong outside the path", "<r><x></y><o/></r>", Options{Path: "/r/o"}, feedmill.ErrUnprocessable, "the end tag </y>"},
		{"wrong behind the records", "<r><o/><o/></r><r/>", Options{}, feedmill.ErrUnprocessable, "one root element"},
		{"an internal subset", `<!DOCTYPE r [<!ENTITY e "x">]><r>&e;</r>`, Options{}, feedmill.ErrUnprocessable, "remove the <!DOCTYPE …[…]>"},
		{"an entity", `<r>&nbsp;</r>`, Options{}, feedmill.ErrUnprocessable, "the entity &nbsp; is not supported"},
		{"another encoding", "<?xml version='1.0' encoding='UTF-16'?><r/>", Options{}, feedmill.ErrUnprocessable, "declares the encoding UTF-16 but uses another"},
		{"an unknown encoding", "<?xml version='1.0' encoding='klingon'?><r/>", Options{}, feedmill.ErrUnprocessable, "the encoding klingon, which is not supported"},
		{"a wrong byte", "<?xml version='1.0' encoding='Shift_JIS'?><r>\x93</r>", Options{}, feedmill.ErrUnprocessable, "a character that is not valid in shift_jis"},
		{"a path without a slash", "<r/>", Options{Path: "r/o"}, feedmill.ErrInvalid, `"r/o" does not start with /`},
		{"a path with a predicate", "<r/>", Options{Path: "/r/o[1]"}, feedmill.ErrInvalid, `"o[1]" is not a valid name`},
		{"a path that ends with a slash", "<r/>", Options{Path: "/r/"}, feedmill.ErrInvalid, `"" is not a valid name`},
		{"a path of only slashes", "<r/>", Options{Path: "//"}, feedmill.ErrInvalid, `"" is not a valid name`},
		{"a path with an attribute", "<r/>", Options{Path: "/r/@id"}, feedmill.ErrInvalid, `"@id" is not a valid name`},
		{"a long path", "<r/>", Options{Path: strings.Repeat("/r", maxSteps+1)}, feedmill.ErrInvalid, "more than 60 steps"},
		{"a wrong explode", "<r/>", Options{Explode: "/lines"}, feedmill.ErrInvalid, `such as lines/line: "" is not a valid name`},
		{"an explode with a star", "<r/>", Options{Explode: "lines/*"}, feedmill.ErrInvalid, `"*" is not a valid name`},
		{"many names", "<r>" + many(maxNodes+1, func(i int) string { return fmt.Sprintf("<n%d/>", i) }) + "</r>", Options{}, feedmill.ErrUnprocessable, "more than 80000 names"},
		{"many columns", "<r><o>" + many(input.MaxColumns+1, func(i int) string { return fmt.Sprintf("<n%d/>", i) }) + "</o></r>", Options{}, feedmill.ErrUnprocessable, "more than 10000 columns"},
		{"many empty cells", "<r>" + many(100, func(i int) string { return fmt.Sprintf("<o><n%d/></o>", i) }) + strings.Repeat("<o/>", 100) + "</r>", Options{emptyCells: -40_000}, feedmill.ErrUnprocessable, "almost all cells are empty"},
		{"a cell before the last", book(`<Cell ss:Index="2"/><Cell ss:Index="1"/>`), Options{}, feedmill.ErrUnprocessable, "the Index of the cell must be a whole number from 3 to 10000"},
		{"a cell far away", book(`<Cell ss:Index="10001"/>`), Options{}, feedmill.ErrUnprocessable, "the Index of the cell must be a whole number from 1 to 10000"},
		{"a cell nowhere", book(`<Cell ss:Index="B"/>`), Options{}, feedmill.ErrUnprocessable, "the Index of the cell"},
		{"a cell over less than none", book(`<Cell ss:MergeAcross="-1"/>`), Options{}, feedmill.ErrUnprocessable, "the MergeAcross of the cell must be a whole number from 0"},
		{"many values to explode", "<r><o>" + strings.Repeat("<l/>", 1<<11+1) + "</o></r>", Options{Path: "/r/o", Explode: "l", exploded: 1 << 12}, feedmill.ErrUnprocessable, "the maximum for explode"},
	})
}

func TestTableRefusesWhatIsLong(t *testing.T) {
	if !decodetest.Long() {
		smaller(t, &maxFieldBytes, 1<<16)
		smaller(t, &maxRecordBytes, 1<<17)
	}
	mustRefuse(t, []refusal{
		{"a long record", "<r>" + strings.Repeat("<a>"+strings.Repeat("x", 1000)+"</a>", int(maxRecordBytes)/900) + "</r>", Options{Path: "/r"}, feedmill.ErrUnprocessable, fmt.Sprintf("the record is longer than %d bytes, the maximum", maxRecordBytes)},
		{"a long text", "<r><o><a>" + strings.Repeat("x", maxFieldBytes+1) + "</a></o></r>", Options{}, feedmill.ErrUnprocessable, "the maximum for a cell"},
		{"a long array", "<r><o>" + strings.Repeat("<a>"+strings.Repeat("x", 1000)+"</a>", maxFieldBytes/990) + "</o></r>", Options{Path: "/r/o"}, feedmill.ErrUnprocessable, "the JSON of a is longer than"},
	})
}

func mustRefuse(t *testing.T, all []refusal) {
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			table, err := Open(t.Context(), strings.NewReader(test.document), test.options)
			if err == nil {
				err = table.Each(t.Context(), 2, func(*columnar.Cells) error { return nil })
				table.Close()
			}
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.detail) {
				t.Errorf("got %v, want one with %q", err, test.detail)
			}
		})
	}
}

func TestNoRecords(t *testing.T) {
	table, err := Open(t.Context(), strings.NewReader("<r><o/></r>"), Options{Path: "/r/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if rows := decodetest.Rows(t, table); len(rows) != 0 {
		t.Errorf("rows %v", rows)
	}
	warnings, err := table.Warnings()
	if err != nil || len(warnings) != 1 || warnings[0].Code != feedmill.WarnNoRows || !strings.Contains(warnings[0].Detail, "/r/x selects nothing") {
		t.Errorf("warnings %+v, %v", warnings, err)
	}
}

// TestNothingExploded holds that a path of explode that leads nowhere is warned of.
func TestNothingExploded(t *testing.T) {
	for path, want := range map[string]int{"lines": 1, "l/x": 1, "l": 0} {
		table, err := Open(t.Context(), strings.NewReader("<r><o><l>1</l></o><o/></r>"), Options{Explode: path})
		if err != nil {
			t.Fatal(err)
		}
		decodetest.Rows(t, table)
		warnings, err := table.Warnings()
		if err != nil || len(warnings) != want || want > 0 && (warnings[0].Code != feedmill.WarnExplode || !strings.Contains(warnings[0].Detail, "value at "+path)) {
			t.Errorf("%s: warnings %+v, %v", path, warnings, err)
		}
		table.Close()
	}
}

func TestEachStops(t *testing.T) {
	table, err := Open(t.Context(), strings.NewReader("<r>"+strings.Repeat("<o><a>1</a></o>", 1000)+"</r>"), Options{blockBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	stop := errors.New("stop")
	if err := table.Each(t.Context(), 2, func(*columnar.Cells) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Each(cancelled, 2, func(*columnar.Cells) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Open(cancelled, strings.NewReader("<r/>"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if rows := decodetest.Rows(t, table); len(rows) != 1000 || table.Blocks() < 50 {
		t.Errorf("%d rows in %d blocks", len(rows), table.Blocks())
	}
}

func TestRecognise(t *testing.T) {
	for head, want := range map[string]bool{
		"<?xml version='1.0'?><a/>": true, "<a/>": true, "<p:a/>": true, "<!DOCTYPE plist PUBLIC": true, "<é/>": true,
		"": false, "<": false, "a,b": false, "<html>": false, "<HTML lang": false, "<!doctype html>": false, "< 5": false, "<5": false, "<a\x00": false,
	} {
		if got := Recognise([]byte(head), false); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// FuzzTable reads documents as tables in blocks of two sizes, which must make no difference.
func FuzzTable(f *testing.F) {
	for _, test := range documentCases() {
		f.Add([]byte(test.document), uint8(7), "", "")
	}
	f.Add([]byte(`<r><o><a>1</a><l><s>x</s></l><l/></o><o><a b="2">c<d/></a></o></r>`), uint8(3), "//o", "l")
	f.Fuzz(func(t *testing.T, data []byte, block uint8, path, explode string) {
		var texts [2]string
		for i, bytes := range []int64{0, int64(block) + 1} {
			table, err := Open(t.Context(), strings.NewReader(string(data)), Options{Path: path, Explode: explode, blockBytes: bytes, Temp: t.TempDir()})
			if err != nil {
				texts[i] = err.Error()
				continue
			}
			texts[i] = fmt.Sprint(table.Names(), decodetest.Rows(t, table), decodetest.Rows(t, table))
			table.Close()
		}
		if texts[0] != texts[1] {
			t.Errorf("%q\ngives     %s\nin blocks %s", data, texts[0], texts[1])
		}
	})
}

// book is a workbook whose second row has the cells.
func book(cells string) string {
	return `<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet><Table>` +
		`<Row><Cell><Data ss:Type="String">n</Data></Cell></Row><Row>` + cells + `</Row></Table></Worksheet></Workbook>`
}
