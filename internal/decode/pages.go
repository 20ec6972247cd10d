package decode

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
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
	options PagesOptions
	each    func(*columnar.Cells) error
	watch   *watch

	format string
	json   jsonPages
	csv    csvPages
	spool  spool

	pages    []page
	added    int
	blocks   int
	rows     int64
	bytes    int64
	warnings joinedWarnings
	failed   error
}

// PagesOptions say where the records are in every page.
type PagesOptions struct {
	// Path and Explode are those of [JSONOptions]. Where the path is empty,
	// the records of all pages are where those of the first page are that has
	// any.
	Path, Explode string
	// List says that the pages are parts of a list, so that an object with an
	// empty array and no array of objects is a page without records, and no
	// record itself.
	List bool
	// Temp is the folder for a temporary file, which data that is not UTF-8
	// takes; empty is that of the system.
	Temp string
}

// page is what it takes to read a page again.
type page struct {
	table pageTable
	// columns says which one of the table each column of the page is; nil
	// means that they are the same.
	columns []int
	// block is the number of its first block, of so many; whole says that the page
	// is read as one.
	block, blocks int
	whole         bool
}

// pageTable is a page that was read.
type pageTable interface {
	Rows() int64
	Blocks() int
	Warnings() ([]feedmill.Warning, error)
	Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error
	// forget gives up what is not needed to read it again.
	forget()
}

// NewPages begins a table. The records of each page are given to each as they are
// read, in runs and in any order, from several goroutines; it must not keep a
// run.
func NewPages(options PagesOptions, each func(*columnar.Cells) error) (*Pages, error) {
	parsed, err := newJSON(JSONOptions{Path: options.Path, Explode: options.Explode})
	if err != nil {
		return nil, err
	}
	return &Pages{
		options: options, each: each, spool: spool{folder: options.Temp},
		json: jsonPages{path: parsed.path, explode: parsed.explode, columns: newJSONColumns(), readers: new(jsonReaders)},
	}, nil
}

// Watch has every text of a column told to see, one at a time and in any order,
// while the pages are read. Nulls are left out. It is called before the first page.
func (p *Pages) Watch(name string, see func(kind columnar.CellKind, text []byte)) {
	p.watch = &watch{name: name, see: see}
}

// Add reads the next page, in one of the formats csv, tsv, json and ndjson, and is
// how many records it has. A page may have none, and may be empty. The page must be
// readable for as long as the table is. After an error no page can be added.
func (p *Pages) Add(ctx context.Context, format string, data Source) (rows int64, err error) {
	if p.failed != nil {
		return 0, p.failed
	}
	p.added++
	rows, err = p.add(ctx, format, data)
	if err != nil {
		p.failed = inPage(p.added, err)
	}
	return rows, p.failed
}

func (p *Pages) add(ctx context.Context, format string, data Source) (int64, error) {
	var added page
	var err error
	switch format {
	case "json", "ndjson":
		if p.format == "csv" {
			return 0, mixedFormats(p.format, format)
		}
		added, err = p.addJSON(ctx, data, format == "ndjson")
	case "csv", "tsv":
		if p.format == "json" {
			return 0, mixedFormats(p.format, format)
		}
		added, err = p.addCSV(ctx, data, format == "tsv")
	default:
		return 0, refuse("unsupported-format", "pages are csv, tsv, json or ndjson, and not %q", format)
	}
	p.bytes += data.Size()
	if errors.Is(err, ErrNoData) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := p.take(added); err != nil {
		return 0, err
	}
	return added.table.Rows(), nil
}

func mixedFormats(before, now string) error {
	return refuse("mixed-formats", "it is %s, and the pages before it are %s", now, before)
}

// take adds a page that was read to the table.
func (p *Pages) take(added page) error {
	warnings, err := added.table.Warnings()
	if err != nil {
		return err
	}
	p.warnings.add(p.added, warnings)
	added.table.forget()
	p.rows += added.table.Rows()
	if err := checkCells(p.rows, p.width(), maxEmptyCells+32*p.bytes); err != nil {
		return err
	}
	added.block, added.blocks = p.blocks, added.table.Blocks()
	if added.whole {
		added.blocks = min(added.blocks, 1)
	}
	if added.blocks > 0 {
		p.pages = append(p.pages, added)
		p.blocks += added.blocks
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

// width is how many columns the table has.
func (p *Pages) width() int { return len(p.csv.names) + p.json.columns.count() }

// Names are what the data calls the columns, empty where it does not. They are
// all known after the last page.
func (p *Pages) Names() []string {
	names := append(slices.Clone(p.csv.names), p.json.columns.list()...)
	if len(names) == 0 && p.rows > 0 {
		return []string{valueName}
	}
	return names
}

// Rows is how many records there are in all pages so far.
func (p *Pages) Rows() int64 { return p.rows }

// Warnings is what was noticed in all pages so far: what is the same in several
// of them is one warning.
func (p *Pages) Warnings() ([]feedmill.Warning, error) {
	out := p.warnings.list(p.added > 1)
	if p.rows == 0 {
		out = append(out, feedmill.Warning{Code: feedmill.WarnNoRows, Count: 1, Detail: "there are no records"})
	}
	return out, nil
}

// Each gives the records of all pages to fn again, like [CSV.Each].
func (p *Pages) Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	var next atomic.Int64
	return together(ctx, workers, func(ctx context.Context) error {
		for {
			i := int(next.Add(1) - 1)
			if i >= p.blocks {
				return nil
			}
			if err := p.Read(ctx, i, i+1, fn); err != nil {
				return err
			}
		}
	})
}

// Blocks is how many parts the records of all pages so far can be read in.
func (p *Pages) Blocks() int { return p.blocks }

// Read gives the records of the blocks from one up to, but not with, another to
// fn, in order. It may be called from several goroutines, after the last page.
func (p *Pages) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	// The last page that begins at the block or before it.
	at, found := slices.BinarySearchFunc(p.pages, from, func(page page, block int) int { return page.block - block })
	if !found {
		at--
	}
	for ; from < to; at++ {
		page := &p.pages[at]
		end := min(to, page.block+page.blocks)
		first, last := from-page.block, end-page.block
		if page.whole {
			last = page.table.Blocks()
		}
		if err := page.table.Read(ctx, first, last, placed(page.columns, p.width, fn)); err != nil {
			return fmt.Errorf("read a page again: %w", err)
		}
		from = end
	}
	return nil
}

// Close removes the temporary file where there is one. The table cannot be read
// after it.
func (p *Pages) Close() error { return p.spool.close() }

// pageWorkers is how many goroutines read a page.
func pageWorkers(data Source) int {
	const enough = 128 << 10 // bytes for one of them
	return int(min(int64(runtime.GOMAXPROCS(0)), 1+data.Size()/enough))
}
