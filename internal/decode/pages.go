package decode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// Pages is one table that comes in pages, each of which is data of its own: the
// answers to the requests of one fetch.
//
// [Pages.Add] reads a page. A column of the table is one that any page has, in
// the order in which they first appear; the records of all pages are numbered
// through. After the last page, the table can be read like any other. How many
// pages there are makes no difference to the memory that is needed, but for a
// few hundred bytes each.
type Pages struct {
	columnar.PlainColumns
	each  func(*columnar.Cells) error
	watch *watch
	spool *input.Spool

	// readers are those of the families that pages came in, and reader that of the
	// family that the pages with data are of.
	options Options
	readers map[*family]pageReader
	family  *family
	reader  pageReader

	// arranged is which columns the table has of those of the pages.
	arranged arrangement

	pages    []pagePart
	added    int
	blocks   int
	rows     int64
	bytes    int64
	warnings JoinedWarnings
	// notes are more warnings, about how the pages were made; nil for none.
	notes  func() []feedmill.Warning
	failed error
}

// pageReader is what the pages of one family have in common.
type pageReader interface {
	// Names are those of the columns of all pages.
	Names() []string
	// Width is how many columns there are.
	Width() int
	// Column is the first column of a name, or -1.
	Column(name string) int
	// Found is how the pages are written.
	Found() feedmill.Findings
}

// pageData is a page that is to be read.
type pageData struct {
	data Source
	// first is the number of its first record, and before how many bytes the
	// pages before it have.
	first, before int64
	// each is given the records.
	each func(*columnar.Cells) error
}

// page is a page that was read, with the columns of the whole table.
type page interface {
	Rows() int64
	Blocks() int
	Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error
}

// pagePart is a page and its blocks in the table: so many, from the first on.
type pagePart struct {
	page
	first, blocks int
	// number is that of the page among all, from 1, and record that of its first record.
	number int
	record int64
	// place is how its cells become those of the table, nil where they are.
	place *placing
}

// NewPages begins a table. The records of each page are given to each as they are
// read, in runs and in any order, from several goroutines; it must not keep a
// run.
func NewPages(options Options, each func(*columnar.Cells) error) *Pages {
	return &Pages{each: each, options: options, spool: input.NewSpool(options.Temp), readers: make(map[*family]pageReader)}
}

// Watch has every text of a column told to see, one at a time and in any order,
// while the pages are read. Nulls are left out. It is called before the first page;
// with an empty name nobody looks any more.
func (p *Pages) Watch(name string, see func(text []byte)) {
	if p.watch = nil; name != "" {
		p.watch = &watch{name: name, see: see}
	}
}

// Add reads the next page, in one of the formats that come in pages, and returns
// how many records it has. A page may have none, and may be empty. The page must be
// readable for as long as the table is. After an error no page can be added.
func (p *Pages) Add(ctx context.Context, format string, data Source) (rows int64, err error) {
	return p.read(ctx, format, data, nil)
}

func (p *Pages) read(ctx context.Context, format string, data Source, place *placing) (rows int64, err error) {
	if p.failed != nil {
		return 0, p.failed
	}
	p.added++
	rows, err = p.add(ctx, format, data, place)
	if err != nil {
		p.failed = inPage(p.added, err)
	}
	return rows, p.failed
}

func (p *Pages) add(ctx context.Context, name string, data Source, place *placing) (int64, error) {
	f, err := formatNamed(name)
	if err != nil || f.family == nil {
		return 0, notInPages(name)
	}
	if p.family != nil && p.family != f.family {
		return 0, input.Refuse("mixed-formats", "the page is %s, but the pages before it are %s", name, p.family.name)
	}
	reader, err := p.readerOf(f.family)
	if err != nil {
		return 0, err
	}
	added, warnings, err := f.addPage(ctx, reader, pageData{data: data, first: p.rows, before: p.bytes, each: p.watched(reader, place)})
	p.bytes += data.Size()
	if errors.Is(err, input.ErrNoData) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	p.family, p.reader = f.family, reader
	p.warnings.Add(p.added, warnings)
	if added.Rows() > 0 && !slices.ContainsFunc(warnings, func(w feedmill.Warning) bool { return w.Code == feedmill.WarnExplode }) {
		p.warnings.Explodes()
	}
	return added.Rows(), p.append(added, place)
}

// readerOf is what the pages of a family have in common, from the first of them on.
func (p *Pages) readerOf(f *family) (pageReader, error) {
	if reader := p.readers[f]; reader != nil {
		return reader, nil
	}
	reader, err := f.begin(p.options, p.spool)
	if err == nil {
		p.readers[f] = reader
	}
	return reader, err
}

// notInPages refuses a page in a format that does not come in pages.
func notInPages(name string) error {
	names := PageFormats().Readable().Names()
	last := len(names) - 1
	return input.Refuse("unsupported-format", "pages must be %s or %s; got %q", strings.Join(names[:last], ", "), names[last], name)
}

// append adds a page that was read to the table.
func (p *Pages) append(added page, place *placing) error {
	first := p.rows
	p.rows += added.Rows()
	if err := input.CheckCells(p.rows, max(p.reader.Width(), len(p.arranged.names)), input.MaxEmptyCells, p.bytes); err != nil {
		return err
	}
	if blocks := added.Blocks(); blocks > 0 {
		p.pages = append(p.pages, pagePart{page: added, first: p.blocks, blocks: blocks, number: p.added, record: first, place: place})
		p.blocks += blocks
	}
	return nil
}

// inPage says in which page an error was.
func inPage(number int, err error) error {
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		named := *refusal
		named.Detail = fmt.Sprintf("page %d: %s", number, refusal.Error())
		return &named
	}
	return fmt.Errorf("page %d: %w", number, err)
}

// Names are what the data calls the columns, empty where it does not. They are
// all known after the last page.
func (p *Pages) Names() []string {
	if p.reader == nil {
		return nil
	}
	if p.arranged.used {
		return slices.Clone(p.arranged.names)
	}
	return p.reader.Names()
}

// PageOf is the number of the page that a record is of. Both count from 1.
func (p *Pages) PageOf(record int64) int {
	at, found := slices.BinarySearchFunc(p.pages, record-1, func(page pagePart, record int64) int { return cmp.Compare(page.record, record) })
	if !found {
		at--
	}
	return p.pages[max(at, 0)].number
}

// Rows is how many records there are in all pages so far.
func (p *Pages) Rows() int64 { return p.rows }

// Warnings is what was noticed in all pages so far: what is the same in several
// of them is one warning.
func (p *Pages) Warnings() ([]feedmill.Warning, error) {
	out := p.warnings.List(p.added > 1)
	if p.rows == 0 {
		detail := "The data has no records."
		if p.options.Path != "" {
			detail += " at " + p.options.Path
		}
		out = append(out, feedmill.Warning{Code: feedmill.WarnNoRows, Count: 1, Detail: detail})
	}
	if p.notes != nil {
		out = append(out, p.notes()...)
	}
	return out, nil
}

// Note has the warnings be more by what notes says, after the last page.
func (p *Pages) Note(notes func() []feedmill.Warning) { p.notes = notes }

// Found is how the pages are written.
func (p *Pages) Found() feedmill.Findings {
	if p.reader == nil {
		return feedmill.Findings{}
	}
	return p.reader.Found()
}

// Each gives the records of all pages to fn again, as that of a [Table] does.
func (p *Pages) Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	return input.EachBlock(ctx, workers, p.blocks, func(ctx context.Context, block int) error {
		return p.Read(ctx, block, block+1, fn)
	})
}

// Blocks is how many parts the records of all pages so far can be read in.
func (p *Pages) Blocks() int { return p.blocks }

// Read gives the records of the blocks [from, to) to fn, in order. Several
// goroutines may call it, after the last page.
func (p *Pages) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	// The last page that begins at the block or before it.
	at, found := slices.BinarySearchFunc(p.pages, from, func(page pagePart, block int) int { return page.first - block })
	if !found {
		at--
	}
	for ; from < to; at++ {
		page := &p.pages[at]
		end := min(to, page.first+page.blocks)
		if err := page.Read(ctx, from-page.first, end-page.first, page.place.of(fn)); err != nil {
			return fmt.Errorf("read a page again: %w", err)
		}
		from = end
	}
	return nil
}

// Close removes the temporary file where there is one. The table cannot be read
// after it.
func (p *Pages) Close() error { return p.spool.Close() }
