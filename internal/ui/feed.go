package ui

import (
	"encoding/csv"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// feedHead is what the pages of one feed have in common.
type feedHead struct {
	client.DataFeed
	Kind, Label, Tab string
	// Write says that the visitor may change the feed.
	Write bool
	// Query is what an export of the rows on the page asks for.
	Query string
}

// Saves reports whether the page has a save bar, which has the main action then.
func (h feedHead) Saves() bool { return h.Tab == "source" || h.Tab == "columns" || h.Tab == "checks" }

// Export is where the rows on the page are read in a format.
func (h feedHead) Export(format string) string {
	return "/data_feeds/" + h.ID + "/data?format=" + format + andQuery(h.Query)
}

// Of is a page of the feed for the same rows.
func (h feedHead) Of(page string) string {
	return strings.TrimSuffix(feedPagePath(h.ID)+page+"?"+h.Query, "?")
}

// andQuery is what follows the first parameter of a path.
func andQuery(query string) string {
	if query == "" {
		return ""
	}
	return "&" + query
}

// rowsAsked is which rows of a feed a page is asked for: in what order, with which filters, of
// which version, 0 for the current one.
func rowsAsked(q url.Values) (client.RowQuery, string) {
	asked := client.RowQuery{Filters: q["filter"], Sort: q.Get("sort")}
	asked.Version, _ = strconv.ParseInt(q.Get("version"), 10, 64)
	same := url.Values{"filter": asked.Filters, "sort": onlyOf(asked.Sort)}
	if asked.Version = max(asked.Version, 0); asked.Version > 0 {
		same.Set("version", q.Get("version"))
	}
	return asked, same.Encode()
}

// feedPage is the rows of a feed.
type feedPage struct {
	Head    feedHead
	Columns []feedColumn
	Rows    []gridRow
	// Total is how many rows the filters leave, All how many there are, and Offset the place
	// of the first. Row is one that was asked for, from 1; 0 for none.
	Total, All, Offset, Row int64
	// Of is the version that was asked for; nil for the current one.
	Of        *client.FeedVersion
	Filters   []filterChip
	Sort      string
	Error     string
	Operators []operator
	// Data is where the script reads rows, and Older and Newer are the pages before
	// and after this one, for those without a script.
	Data, Older, Newer string
	// Curl is a command that reads the same rows.
	Curl string
	// Heads is where the script finds the pictures in the heads of columns.
	Heads string
	// Hidden are the columns that are read by name alone; nil for none.
	Hidden *hiddenColumns
}

// hiddenColumns are columns as the parameter fields has them.
type hiddenColumns struct {
	Fields string
	Count  int
}

func hiddenOf(f client.DataFeed) *hiddenColumns {
	var names []string
	for _, c := range f.Columns {
		if c.Hidden {
			names = append(names, quoteName(c.Name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &hiddenColumns{url.QueryEscape(strings.Join(names, ",")), len(names)}
}

type feedColumn struct {
	feedmill.Column
	Numeric, Key bool
	// Warned has what was noticed about the column.
	Warned string
	// SortBy is the next way to sort by it, and Sorted the present one.
	SortBy, Sorted string
}

type gridRow struct {
	Number int64
	Cells  []gridCell
}

type gridCell struct {
	Text    string
	Null    bool
	Numeric bool
}

// pageRows is how many rows a page has without a script.
const pageRows = 50

func headOf(v *visit, tab string) (feedHead, error) {
	f, err := v.api.DataFeed(v.r.Context(), v.r.PathValue("id"))
	return feedHead{DataFeed: f, Kind: f.Type.Kind().Title, Label: labelOf(f), Tab: tab, Write: v.canWrite()}, err
}

func showFeed(v *visit) error {
	head, err := headOf(v, "data")
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	if column := q.Get("column"); column != "" {
		return v.redirect(withFilter(v.r.URL, column, q.Get("op"), q.Get("value")))
	}
	asked, same := rowsAsked(q)
	p := feedPage{Head: head, Sort: asked.Sort, All: head.RowCount, Operators: operators}
	p.place(q)
	p.Filters = chips(v.r.URL)
	p.Head.Query = same
	p.Data = p.Head.Export("csv")
	p.Curl = "curl " + shellQuote(baseOf(v.r)+p.Data) + " -H \"Authorization: Bearer $FEEDMILL_API_KEY\""
	p.Heads = p.Head.Of("/heads")
	if p.Hidden = hiddenOf(head.DataFeed); asked.Version > 0 && asked.Version != head.Version {
		p.Hidden = nil
	}
	p.Columns = columnsOf(head.DataFeed, p.Sort, v.r.URL)
	if asked.Version > 0 && asked.Version != head.Version {
		version, err := v.api.FeedVersion(v.r.Context(), head.ID, asked.Version)
		if err != nil {
			return err
		}
		p.Of, p.All = &version, version.RowCount
	}
	if head.Version > 0 {
		if err := p.read(v, asked); err != nil {
			return err
		}
	}
	if p.Offset > 0 {
		p.Older = with(v.r.URL, "row", "", "offset", strconv.FormatInt(max(p.Offset-pageRows, 0), 10))
	}
	if p.Offset+pageRows < p.Total {
		p.Newer = with(v.r.URL, "row", "", "offset", strconv.FormatInt(p.Offset+pageRows, 10))
	}
	return v.render(http.StatusOK, "feed", head.Name, p)
}

// place is where the page begins: at a place, or with a row.
func (p *feedPage) place(q url.Values) {
	p.Offset, _ = strconv.ParseInt(q.Get("offset"), 10, 64)
	p.Row, _ = strconv.ParseInt(q.Get("row"), 10, 64)
	if p.Row > 0 && !q.Has("offset") {
		p.Offset = p.Row - 1
	}
	p.Offset, p.Row = max(p.Offset, 0), max(p.Row, 0)
}

// read reads the rows of the page. What is wrong with a filter stands above them.
func (p *feedPage) read(v *visit, asked client.RowQuery) error {
	asked.Format, asked.Limit, asked.Offset, asked.Count = "csv", pageRows, p.Offset, true
	rows, err := v.api.ReadData(v.r.Context(), p.Head.ID, asked)
	if detail, ok := refused(err); ok {
		p.Error = detail
		return nil
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	p.Total = rows.Total
	text, err := io.ReadAll(rows)
	if err != nil {
		return err
	}
	if p.Of != nil {
		p.Columns = columnsOf(thenOf(p.Head.DataFeed, string(text)), p.Sort, v.r.URL)
	}
	p.Rows = readGrid(string(text), p.Offset, p.Columns)
	return nil
}

// thenOf is a feed with the columns of rows of an older version, of which nothing was noticed.
func thenOf(f client.DataFeed, rows string) client.DataFeed {
	names, err := csv.NewReader(strings.NewReader(rows)).Read()
	if err != nil {
		return f
	}
	now := f.Columns
	f.Columns, f.Warnings = nil, nil
	for _, name := range names {
		column := feedmill.Column{Name: name}
		if at := slices.IndexFunc(now, func(c feedmill.Column) bool { return c.Name == name }); at >= 0 {
			column = now[at]
		}
		f.Columns = append(f.Columns, column)
	}
	return f
}

// readGrid reads CSV, in which null is nothing and an empty text is in quotes. The
// standard reader does not tell the two apart, so nothing is marked first.
func readGrid(text string, offset int64, columns []feedColumn) []gridRow {
	r := csv.NewReader(strings.NewReader(markEmpty(text)))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil || len(records) < 2 {
		return nil
	}
	rows := make([]gridRow, len(records)-1)
	for i, record := range records[1:] {
		rows[i] = gridRow{Number: offset + int64(i) + 1, Cells: make([]gridCell, len(record))}
		for j, cell := range record {
			empty := cell == emptyMark
			if empty {
				cell = ""
			}
			rows[i].Cells[j] = gridCell{Text: clip(cell), Null: cell == "" && !empty, Numeric: j < len(columns) && columns[j].Numeric}
		}
	}
	return rows
}

// emptyMark stands for an empty text.
const emptyMark = "\x00empty"

func markEmpty(text string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			if !quoted && strings.HasPrefix(text[i:], `""`) && (i+2 == len(text) || strings.ContainsRune(",\r\n", rune(text[i+2]))) {
				b.WriteString(emptyMark)
				i++
				continue
			}
			quoted = !quoted
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// cellCharacters is how much of a cell a page has; the rest is in the data.
const cellCharacters = 400

func clip(text string) string { return clipAt(text, cellCharacters) }

func clipAt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func columnsOf(f client.DataFeed, sort string, u *url.URL) []feedColumn {
	var columns []feedColumn
	for _, c := range f.Columns {
		if c.Hidden {
			continue
		}
		column := feedColumn{Column: c, Numeric: numeric(string(c.Type)), Key: slices.Contains(f.Key, c.Name), SortBy: with(u, "sort", quoteName(c.Name), "offset", "", "row", "")}
		switch name := quoteName(c.Name); sort {
		case name:
			column.Sorted, column.SortBy = "ascending", with(u, "sort", "-"+name, "offset", "", "row", "")
		case "-" + name:
			column.Sorted, column.SortBy = "descending", with(u, "sort", "", "offset", "", "row", "")
		}
		for _, w := range f.Warnings {
			if w.Column == c.Name {
				column.Warned = strings.TrimSpace(column.Warned + " " + w.Detail)
			}
		}
		columns = append(columns, column)
	}
	return columns
}

// with is a path with other parameters; an empty one is left out.
func with(u *url.URL, pairs ...string) string {
	q := u.Query()
	q.Del("did")
	for i := 0; i < len(pairs); i += 2 {
		if q.Del(pairs[i]); pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return u.Path
	}
	return u.Path + "?" + q.Encode()
}

func onlyOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// scheduleWords says when a feed is refreshed.
func scheduleWords(s *client.Schedule) string {
	switch {
	case s == nil:
		return "none"
	case s.Every != "":
		return "every " + s.Every
	}
	return s.Cron + " " + s.Timezone
}

// numeric reports whether the values of a type stand at the right.
func numeric(t string) bool { return t == "integer" || t == "decimal" || t == "number" }
