package decode

import (
	"context"
	"slices"
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
)

// csvPages is what the pages of separated fields have in common.
type csvPages struct {
	// names are those of the columns of all pages, and byName where they are.
	names  []string
	byName map[csvName]int
	// like is the last page that had records, and columns are those of the
	// last page.
	like    *csvLike
	columns []int
}

// csvName is a name of which a page may have several.
type csvName struct {
	name string
	nth  int
}

// addCSV reads a page. Its columns are those of other pages with the same names;
// one that has no header, or does not repeat that of the page before, has the
// same columns as that.
func (p *Pages) addCSV(ctx context.Context, data Source, tabs bool) (page, error) {
	text, err := openText(ctx, data, &p.spool)
	if err != nil {
		return page{}, err
	}
	options := CSVOptions{like: p.csv.like}
	if tabs {
		options.Delimiter = '\t'
	}
	c, err := OpenCSV(ctx, text, options)
	if err != nil {
		return page{}, err
	}
	p.format = "csv"
	c.base, c.rows = p.rows, p.rows
	places := &csvPlaces{pages: &p.csv}
	if err := places.extend(c.names); err != nil {
		return page{}, err
	}
	each := p.watching(places.index, p.each)
	err = c.Each(ctx, pageWorkers(data), func(cells *columnar.Cells) error {
		columns, err := places.of(c, cells.Columns)
		if err != nil {
			return err
		}
		return placed(columns, places.width, each)(cells)
	})
	if err != nil {
		return page{}, err
	}
	columns, err := places.of(c, c.width())
	if err != nil {
		return page{}, err
	}
	p.csv.share(c, &columns)
	return page{table: c, columns: columns}, nil
}

// share gives a page the memory of the page before where they have the same.
func (p *csvPages) share(c *CSV, columns *[]int) {
	if p.like != nil && slices.Equal(c.names, p.like.names) {
		c.names = p.like.names
	}
	if slices.Equal(*columns, p.columns) {
		*columns = p.columns
	}
	p.columns = *columns
	if c.Rows() > 0 {
		p.like = &csvLike{dialect: c.Dialect, names: c.names}
	}
}

// csvPlaces says where the columns of a page are in the table. Columns that only
// some records have become known while the page is read.
type csvPlaces struct {
	pages *csvPages

	mu      sync.Mutex
	columns []int
	nth     map[string]int
	// moved says that some column has another place than in the page.
	moved bool
}

// of is where the first so many columns of the page are; nil means that they are
// where they are in the page.
func (s *csvPlaces) of(c *CSV, columns int) ([]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.columns); n < columns; n++ {
		if err := s.add(extraName(n + 1 - c.columns)); err != nil {
			return nil, err
		}
	}
	if !s.moved {
		return nil, nil
	}
	return s.columns, nil
}

// width is how many columns the table has.
func (s *csvPlaces) width() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pages.names)
}

// index is the first column of a name, or -1.
func (s *csvPlaces) index(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Index(s.pages.names, name)
}

// extend adds the columns of the header.
func (s *csvPlaces) extend(names []string) error {
	for _, name := range names {
		if err := s.add(name); err != nil {
			return err
		}
	}
	return nil
}

// add finds the place of the next column of the page.
func (s *csvPlaces) add(name string) error {
	if s.nth == nil {
		s.nth = make(map[string]int)
	}
	key := csvName{name, s.nth[name]}
	s.nth[name]++
	p := s.pages
	at, known := p.byName[key]
	if !known {
		if len(p.names) >= MaxColumns+MaxExtraColumns {
			return refuse("too-many-columns", "all pages together have more than %d columns", MaxColumns+MaxExtraColumns)
		}
		if p.byName == nil {
			p.byName = make(map[csvName]int)
		}
		at = len(p.names)
		p.byName[key] = at
		p.names = append(p.names, name)
	}
	s.moved = s.moved || at != len(s.columns)
	s.columns = append(s.columns, at)
	return nil
}

func (c *CSV) forget() { c.warnings, c.text.Warnings, c.text.survey.quotes = nil, nil, nil }
