package worker_test

import (
	"archive/zip"
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/lake/worker"
)

// book is a workbook as a reader sees it that follows the parts from one to
// the next.
type book struct {
	names  []string
	sheets map[string]*sheet
	styles []bookStyle
}

type bookStyle struct {
	format string
	bold   bool
}

type sheet struct {
	Pane struct {
		Rows  int    `xml:"ySplit,attr"`
		State string `xml:"state,attr"`
	} `xml:"sheetViews>sheetView>pane"`
	Widths []struct {
		Width float64 `xml:"width,attr"`
	} `xml:"cols>col"`
	Rows []struct {
		Number int         `xml:"r,attr"`
		Cells  []sheetCell `xml:"c"`
	} `xml:"sheetData>row"`
}

type sheetCell struct {
	At    string `xml:"r,attr"`
	Style int    `xml:"s,attr"`
	Type  string `xml:"t,attr"`
	Value string `xml:"v"`
	Text  string `xml:"is>t"`
}

func openBook(f failer, body string) *book {
	f.Helper()
	z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		f.Fatal(err)
	}
	read := func(path string, into any) {
		f.Helper()
		part, err := z.Open(path)
		if err != nil {
			f.Fatal(err)
		}
		defer part.Close()
		if err := xml.NewDecoder(part).Decode(into); err != nil {
			f.Fatalf("%s: %v", path, err)
		}
	}
	type relations struct {
		List []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	var top, below relations
	read("_rels/.rels", &top)
	var index struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	read(top.List[0].Target, &index)
	read("xl/_rels/workbook.xml.rels", &below)
	var types struct {
		Overrides []struct {
			Part string `xml:"PartName,attr"`
		} `xml:"Override"`
	}
	read("[Content_Types].xml", &types)
	for _, o := range types.Overrides {
		if _, err := z.Open(strings.TrimPrefix(o.Part, "/")); err != nil {
			f.Fatalf("there is a type for a part that is not there: %v", err)
		}
	}
	b := &book{sheets: make(map[string]*sheet)}
	for _, r := range below.List {
		if strings.HasSuffix(r.Type, "/styles") {
			b.readStyles(func(into any) { read("xl/"+r.Target, into) })
			continue
		}
		for _, s := range index.Sheets {
			if s.ID == r.ID {
				b.names = append(b.names, s.Name)
				b.sheets[s.Name] = new(sheet)
				read("xl/"+r.Target, b.sheets[s.Name])
			}
		}
	}
	if want := len(b.names) + 2; len(types.Overrides) != want || len(below.List) != want-1 || len(index.Sheets) != want-2 {
		f.Fatalf("%d sheets with %d relations and %d types", len(index.Sheets), len(below.List), len(types.Overrides))
	}
	return b
}

func (b *book) readStyles(read func(into any)) {
	var sheet struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Fonts []struct {
			Bold *struct{} `xml:"b"`
		} `xml:"fonts>font"`
		Styles []struct {
			Format int `xml:"numFmtId,attr"`
			Font   int `xml:"fontId,attr"`
		} `xml:"cellXfs>xf"`
	}
	read(&sheet)
	codes := map[int]string{0: "General", 1: "0", 49: "@"}
	for _, f := range sheet.Formats {
		codes[f.ID] = strings.ReplaceAll(f.Code, "\\", "")
	}
	for _, s := range sheet.Styles {
		b.styles = append(b.styles, bookStyle{codes[s.Format], sheet.Fonts[s.Font].Bold != nil})
	}
}

// shown is a cell as a user sees it: text in quotes, and numbers with the
// format in which they are shown, times as what they stand for.
func (b *book) shown(f failer, c sheetCell) string {
	f.Helper()
	style := b.styles[c.Style]
	switch c.Type {
	case "inlineStr":
		return strconv.Quote(worker.Unescape(c.Text))
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE"}[c.Value]
	case "":
	default:
		f.Fatalf("a cell of type %q", c.Type)
	}
	if !strings.HasPrefix(style.format, "yyyy") {
		return c.Value + " as " + style.format
	}
	serial, err := strconv.ParseFloat(c.Value, 64)
	if err != nil {
		f.Fatal(err)
	}
	days := math.Floor(serial)
	at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days))
	at = at.Add(time.Duration(math.Round((serial-days)*86400e6)) * time.Microsecond)
	if days >= 1<<16 {
		at = at.Round(time.Millisecond) // nearer than that the number is not
	}
	return at.Format(time.RFC3339Nano) + " as " + style.format
}

// table are the cells of a sheet, row by row, empty where there is none.
func (b *book) table(f failer, name string, columns int) [][]string {
	f.Helper()
	var rows [][]string
	for i, r := range b.sheets[name].Rows {
		if r.Number != i+1 {
			f.Fatalf("row %d of %s says that it is row %d", i+1, name, r.Number)
		}
		row := make([]string, columns)
		for _, c := range r.Cells {
			letter, number := c.At[:1], c.At[1:]
			if number != strconv.Itoa(i+1) {
				f.Fatalf("row %d has the cell %s", i+1, c.At)
			}
			row[letter[0]-'A'] = b.shown(f, c)
		}
		rows = append(rows, row)
	}
	return rows
}
