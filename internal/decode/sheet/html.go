package sheet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// htmlBook is a web page whose tables are its sheets. Many programs write one and call it a workbook.
type htmlBook struct {
	ranges // a page has none
	data   input.Source
	list   []feedmill.Sheet
}

// maxToken is how long a tag or a text of a page can be.
const maxToken = 1 << 20

func openHTML(ctx context.Context, data input.Source) (*htmlBook, error) {
	b := &htmlBook{data: data}
	r := &htmlReader{wanted: -1}
	err := b.walk(ctx, r)
	for i, rows := range r.rows {
		b.list = append(b.list, feedmill.Sheet{Index: i + 1, Name: fmt.Sprintf("Table %d of %d rows", i+1, rows)})
	}
	switch {
	case err != nil:
		return nil, err
	case len(b.list) == 0:
		return nil, input.Refuse("web-page", "the data is a web page (HTML) without a table; it can be a login or error page")
	}
	return b, checkSheets(b.list)
}

func (b *htmlBook) sheets() []feedmill.Sheet { return b.list }

func (b *htmlBook) read(ctx context.Context, sheet int, _ *merged, fn func(*line) error) ([]area, error) {
	return nil, b.walk(ctx, &htmlReader{wanted: sheet, fn: fn})
}

// walk goes through the page in its encoding.
func (b *htmlBook) walk(ctx context.Context, r *htmlReader) error {
	text, err := charset.NewReader(io.NewSectionReader(b.data, 0, b.data.Size()), "")
	if err != nil {
		return fmt.Errorf("read a web page: %w", err)
	}
	r.tokens = html.NewTokenizer(input.NewContextReader(ctx, text))
	r.tokens.SetMaxBuf(maxToken)
	for {
		var err error
		switch r.tokens.Next() {
		case html.ErrorToken:
			if err = r.tokens.Err(); err == io.EOF {
				return r.endRow()
			}
			if err == html.ErrBufferExceeded {
				err = input.Refuse("web-page", "the page has a tag or a text that is longer than %d bytes, the maximum", maxToken)
			}
		case html.TextToken:
			err = r.text(r.tokens.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			err = r.start()
		case html.EndTagToken:
			err = r.end()
		}
		if err != nil {
			return err
		}
	}
}

// htmlReader reads the rows of a table.
type htmlReader struct {
	tokens *html.Tokenizer
	wanted int // the number of the table, from 0, or -1 for none
	fn     func(*line) error

	rows  []int // of the tables that were met
	open  []int // the tables that are open, the innermost last
	row   int   // of the wanted one
	inRow bool
	line
	// column is that of the next cell, and down the last row into which a cell above a column reaches.
	column int
	down   map[int]int

	inCell     bool
	span, rise int
	kind       columnar.CellKind
	value      []byte // where the cell says its value besides its text
	space      bool
	skipping   string // script and style have no text
}

func (r *htmlReader) isWanted() bool { return len(r.open) > 0 && r.open[len(r.open)-1] == r.wanted }

func (r *htmlReader) start() error {
	name, more := r.tokens.TagName()
	switch string(name) {
	case "table":
		r.open = append(r.open, len(r.rows))
		r.rows = append(r.rows, 0)
		if len(r.open) > 100 {
			return input.Refuse("web-page", "the tables of the page are nested too deeply")
		}
	case "tr":
		if len(r.open) > 0 {
			r.rows[r.open[len(r.open)-1]]++
		}
		if !r.isWanted() {
			return nil
		}
		if err := r.endRow(); err != nil {
			return err
		}
		r.row++
		r.inRow, r.column = true, 0
	case "td", "th":
		if r.isWanted() && r.inRow {
			return r.startCell(more)
		}
	case "br":
		if r.inCell && r.isWanted() {
			r.texts, r.space = append(r.texts, '\n'), false
		}
	case "p", "div", "li":
		r.space = r.inCell
	case "script", "style":
		r.skipping = string(name)
	}
	return nil
}

func (r *htmlReader) startCell(more bool) error {
	if err := r.endCell(); err != nil {
		return err
	}
	for r.down[r.column] >= r.row { // a cell of a row above reaches down here
		r.column++
	}
	r.inCell, r.span, r.rise, r.kind, r.value, r.space = true, 1, 1, columnar.CellPlain, nil, false
	r.cells = append(r.cells, cell{column: r.column, start: len(r.texts)})
	for more {
		var key, value []byte
		key, value, more = r.tokens.TagAttr()
		switch string(key) {
		case "colspan":
			r.span = spanOf(value)
		case "rowspan":
			r.rise = spanOf(value)
		case "x:str":
			r.kind = columnar.CellString
		case "x:num":
			if _, err := strconv.ParseFloat(string(value), 64); err == nil {
				r.value = bytes.Clone(value)
			}
		case "style":
			if strings.Contains(strings.ReplaceAll(string(value), " ", ""), `mso-number-format:\@`) || bytes.Contains(value, []byte(`mso-number-format:"\@"`)) {
				r.kind = columnar.CellString
			}
		}
	}
	if r.column > maxColumn {
		return input.Refuse("too-many-columns", "row %d of the table has more than %d columns, the maximum", r.row, maxColumn+1)
	}
	return nil
}

// spanOf is over how many columns or rows a cell goes.
func spanOf(text []byte) int {
	n, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, 1000)
}

func (r *htmlReader) end() error {
	name, _ := r.tokens.TagName()
	switch string(name) {
	case "table":
		if len(r.open) == 0 {
			return nil
		}
		if r.isWanted() {
			if err := r.endRow(); err != nil {
				return err
			}
		}
		r.open = r.open[:len(r.open)-1]
	case "tr":
		if r.isWanted() {
			return r.endRow()
		}
	case "td", "th":
		if r.isWanted() {
			return r.endCell()
		}
	case "script", "style":
		r.skipping = ""
	}
	return nil
}

// text adds to the cell, in which white space of any length is one space.
func (r *htmlReader) text(text []byte) error {
	if !r.inCell || r.skipping != "" || !r.isWanted() {
		return nil
	}
	start := r.cells[len(r.cells)-1].start
	for _, c := range string(text) {
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			r.space = true
			continue
		}
		if n := len(r.texts); r.space && n > start && r.texts[n-1] != '\n' {
			r.texts = append(r.texts, ' ')
		}
		r.space = false
		r.texts = append(r.texts, string(c)...)
	}
	if len(r.texts) > input.MaxRecordBytes || len(r.texts)-start > input.MaxFieldBytes {
		return input.Refuse("too-long", "the text in row %d of the table is too long", r.row)
	}
	return nil
}

func (r *htmlReader) endCell() error {
	if !r.inCell {
		return nil
	}
	r.inCell = false
	c := &r.cells[len(r.cells)-1]
	text := bytes.Trim(bytes.ReplaceAll(r.texts[c.start:], []byte("\u00a0"), []byte(" ")), " \n")
	c.kind = r.kind
	if r.value != nil {
		text, c.kind = r.value, columnar.CellPlain
	}
	r.texts = append(r.texts[:c.start], text...)
	c.end = len(r.texts)
	if c.start == c.end {
		c.kind = columnar.CellMissing
	}
	for i := range r.span {
		if r.rise > 1 && r.column+i <= maxColumn {
			if r.down == nil {
				r.down = make(map[int]int)
			}
			r.down[r.column+i] = r.row + r.rise - 1
		}
	}
	r.column += r.span
	return nil
}

// endRow gives the row away.
func (r *htmlReader) endRow() error {
	if !r.inRow {
		return nil
	}
	if err := r.endCell(); err != nil {
		return err
	}
	r.inRow = false
	r.placeTexts()
	if r.row > maxRow+1 {
		return input.Refuse("too-many-rows", "the table has more than %d rows, the maximum", maxRow+1)
	}
	r.number = r.row
	err := r.fn(&r.line)
	r.cells, r.texts = r.cells[:0], r.texts[:0]
	return err
}
