package ui

import (
	"cmp"
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
	// Query is what an export of the rows on the page asks for.
	Query string
}

// feedPage is the rows of a feed.
type feedPage struct {
	Head    feedHead
	Columns []feedColumn
	Rows    []gridRow
	// Total is how many rows the filters leave, and Offset the place of the first.
	Total, Offset int64
	Filters       []filterChip
	Sort          string
	Error         string
	Operators     []operator
	// Data is where the script reads rows, and Older and Newer are the pages before
	// and after this one, for those without a script.
	Data, Older, Newer string
	// Curl is a command that reads the same rows.
	Curl string
	// Heads is where the script finds the pictures in the heads of columns.
	Heads string
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

// filterChip is a filter in words; Without is the page without it.
type filterChip struct{ Column, Words, Value, Without string }

type operator struct{ Op, Words string }

// operators are those that the form of filters has.
var operators = []operator{
	{"eq", "is"},
	{"!eq", "is not"},
	{"contains", "contains"},
	{"startsWith", "starts with"},
	{"endsWith", "ends with"},
	{"gt", "greater than"},
	{"gte", "at least"},
	{"lt", "less than"},
	{"lte", "at most"},
	{"isNull", "is null"},
	{"!isNull", "is not null"},
	{"isTrue", "is true"},
	{"isFalse", "is false"},
}

// pageRows is how many rows a page has without a script.
const pageRows = 50

func headOf(v *visit, tab string) (feedHead, error) {
	f, err := v.api.DataFeed(v.r.Context(), v.r.PathValue("id"))
	return feedHead{DataFeed: f, Kind: kinds[f.Type], Label: labelOf(f), Tab: tab}, err
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
	p := feedPage{Head: head, Sort: q.Get("sort"), Operators: operators}
	p.Offset, _ = strconv.ParseInt(q.Get("offset"), 10, 64)
	p.Offset = max(p.Offset, 0)
	p.Filters = chips(v.r.URL)
	p.Head.Query = url.Values{"sort": onlyOf(p.Sort), "filter": q["filter"]}.Encode()
	p.Data = "/data_feeds/" + head.ID + "/data?" + p.Head.Query
	p.Curl = "curl " + shellQuote(baseOf(v.r)+"/data_feeds/"+head.ID+"/data?format=csv&"+p.Head.Query) + " -H \"Authorization: Bearer $FEEDMILL_API_KEY\""
	p.Heads = feedPagePath(head.ID) + "/heads?" + url.Values{"filter": q["filter"]}.Encode()
	p.Columns = columnsOf(head.DataFeed, p.Sort, v.r.URL)
	if head.Version > 0 {
		if err := p.read(v, q["filter"]); err != nil {
			return err
		}
	}
	if p.Offset > 0 {
		p.Older = with(v.r.URL, "offset", strconv.FormatInt(max(p.Offset-pageRows, 0), 10))
	}
	if p.Offset+pageRows < p.Total {
		p.Newer = with(v.r.URL, "offset", strconv.FormatInt(p.Offset+pageRows, 10))
	}
	return v.render(http.StatusOK, "feed", head.Name, p)
}

// read reads the rows of the page. What is wrong with a filter stands above them.
func (p *feedPage) read(v *visit, filters []string) error {
	rows, err := v.api.ReadData(v.r.Context(), p.Head.ID, client.RowQuery{Format: "csv", Filters: filters, Sort: p.Sort, Limit: pageRows, Offset: p.Offset, Count: true})
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
	p.Rows = readGrid(string(text), p.Offset, p.Columns)
	return nil
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
		column := feedColumn{Column: c, Numeric: numeric(string(c.Type)), Key: slices.Contains(f.Key, c.Name), SortBy: with(u, "sort", quoteName(c.Name), "offset", "")}
		switch name := quoteName(c.Name); sort {
		case name:
			column.Sorted, column.SortBy = "ascending", with(u, "sort", "-"+name, "offset", "")
		case "-" + name:
			column.Sorted, column.SortBy = "descending", with(u, "sort", "", "offset", "")
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

// withFilter is the page with one more filter.
func withFilter(u *url.URL, column, op, value string) string {
	q := u.Query()
	for _, name := range []string{"column", "op", "value", "offset"} {
		q.Del(name)
	}
	inverted := ""
	op, found := strings.CutPrefix(cmp.Or(op, "eq"), "!")
	if found {
		inverted = "!"
	}
	filter := inverted + quoteName(column) + ":" + op
	if !slices.Contains([]string{"isNull", "isTrue", "isFalse"}, op) {
		filter += ":" + quoteName(value)
	}
	q.Add("filter", filter)
	return u.Path + "?" + q.Encode()
}

// quoteName is a name or value as the API's parameters take it.
func quoteName(name string) string {
	if name != "" && !strings.ContainsAny(name, ",:\"\n\r!-") {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// chips are the filters in words, each with the page without it.
func chips(u *url.URL) []filterChip {
	filters := u.Query()["filter"]
	all := make([]filterChip, len(filters))
	for i, f := range filters {
		q := u.Query()
		q["filter"] = slices.Delete(slices.Clone(filters), i, i+1)
		q.Del("offset")
		all[i] = filterWords(f)
		all[i].Without = u.Path + "?" + q.Encode()
	}
	return all
}

func filterWords(filter string) filterChip {
	text, inverted := strings.CutPrefix(filter, "!")
	parts := strings.SplitN(text, ":", 3)
	if strings.HasPrefix(text, `"`) || len(parts) < 2 {
		return filterChip{Words: filter}
	}
	op := parts[1]
	if inverted {
		op = "!" + op
	}
	words := strings.TrimPrefix(op, "!")
	for _, o := range operators {
		if o.Op == op {
			words = o.Words
		}
	}
	if len(parts) == 2 {
		return filterChip{Column: parts[0], Words: words}
	}
	value := strings.ReplaceAll(parts[2], ",", " or ")
	if inner, ok := strings.CutPrefix(parts[2], `"`); ok {
		value = strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return filterChip{Column: parts[0], Words: words, Value: value}
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
