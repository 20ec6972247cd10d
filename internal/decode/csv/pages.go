package csv

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// Pages is what the pages of one table have in common.
type Pages struct {
	options Options
	spool   *input.Spool
	found   feedmill.Findings
	// like is the last page that had records, and columns are those of the
	// last page.
	like    *template
	columns []int
	header  [][]byte

	// mu is held for the columns of all pages, which can become known while a
	// page is read.
	mu     sync.Mutex
	names  []string
	byName map[nthName]int
}

// nthName is a name of which a page may have several.
type nthName struct {
	name string
	nth  int
}

// NewPages begins a table, all pages of which are read with the options. Pages
// that are not UTF-8 are written again to the spool.
func NewPages(options Options, spool *input.Spool) *Pages {
	return &Pages{options: options, spool: spool}
}

// Found is how the first page that has records is written.
func (p *Pages) Found() feedmill.Findings { return p.found }

// Names are what the pages call the columns, empty where they do not.
func (p *Pages) Names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.names)
}

// Width is how many columns the table has.
func (p *Pages) Width() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.names)
}

// Column is the first column of a name, or -1.
func (p *Pages) Column(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Index(p.names, name)
}

// Page is a page that was read.
type Page struct {
	*Table
	pages *Pages
	// columns says which one of the table each column of the page is; nil
	// means that they are the same.
	columns []int
}

// Add reads a page whose first record has the number first, and gives its records
// to each. The delimiter is that of its format, or 0. Its columns are those of other pages with the same names; one that has no
// header, or does not repeat that of the page before, has the same columns as that.
func (p *Pages) Add(ctx context.Context, data input.Source, delimiter byte, first int64, each func(*columnar.Cells) error) (*Page, []feedmill.Warning, error) {
	options := p.options
	options.like = p.like
	if !options.DelimiterSet {
		options.Delimiter = delimiter
	}
	c, err := open(ctx, data, options, p.spool)
	if err != nil {
		return nil, nil, err
	}
	c.base, c.rows = first, first
	places := &places{pages: p, header: c.columns}
	if err := places.extend(c.names); err != nil {
		return nil, nil, err
	}
	err = c.Each(ctx, input.PageWorkers(data), func(cells *columnar.Cells) error {
		columns, err := places.of(cells.Columns)
		if err != nil {
			return err
		}
		return placed(columns, p.Width, each)(cells)
	})
	if err != nil {
		return nil, nil, err
	}
	columns, err := places.of(c.width())
	if err != nil {
		return nil, nil, err
	}
	warnings, err := c.Warnings()
	if err != nil {
		return nil, nil, err
	}
	p.share(c, &columns)
	if !p.found.Delimiter.Known() && c.Rows() > 0 {
		p.found = c.Found()
	}
	c.warnings, c.text.Warnings, c.text.Survey.Quotes, c.options, c.units = nil, nil, nil, nil, nil
	return &Page{Table: c, pages: p, columns: columns}, warnings, nil
}

// share gives a page the memory of the page before where they have the same.
func (p *Pages) share(c *Table, columns *[]int) {
	if p.like != nil && slices.Equal(c.names, p.like.names) {
		c.names = p.like.names
	}
	if slices.Equal(*columns, p.columns) {
		*columns = p.columns
	}
	p.columns = *columns
	if slices.EqualFunc(c.header, p.header, bytes.Equal) {
		c.header = p.header
	}
	p.header = c.header
	if c.Rows() > 0 {
		p.like = &template{dialect: c.Dialect, names: c.names}
	}
}

// Read gives the records of the blocks [from, to) to fn, in order, with the
// columns of the whole table.
func (p *Page) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	return p.Table.Read(ctx, from, to, placed(p.columns, p.pages.Width, fn))
}
