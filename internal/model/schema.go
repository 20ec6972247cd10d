package model

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/share"
)

// Schema is the columns of data and how their values are read. Its methods do not
// change it, so that several goroutines may use it, except where they say so.
type Schema struct {
	Columns []feedmill.Column
	// Rows is how many rows the data has.
	Rows int64
	// Found is how the data is written.
	Found feedmill.Findings

	// opposite are the columns whose numbers prove a decimal comma, after commas were assumed to
	// separate thousands.
	opposite []string

	plans []plan
	// found are the types that the columns have by themselves.
	found    []columnar.Type
	options  Options
	location *time.Location
	nulls    nullTokens
	// text says that all columns are text, exactly as they stand in the data.
	text bool
	// source says for each column which one of the data it is, or -1; nil
	// means that they are the same.
	source []int
	// largest is how many bytes the largest run of the data has.
	largest int
}

// CheckLocale refuses data that proves a decimal comma where commas of the data before were
// assumed to separate thousands: the rows that the feed has may be wrong by a factor of 1000.
func (s *Schema) CheckLocale() error {
	if len(s.opposite) == 0 {
		return nil
	}
	return &feedmill.Error{
		Kind: feedmill.ErrUnprocessable, Type: "locale-changed",
		Detail: fmt.Sprintf("Column %q has decimal commas. In earlier data its commas were assumed to separate thousands, so stored values could be wrong. "+
			"Set decimal=, and upload all data again with mode=replace, or set decimal=. if the commas separate thousands.", s.opposite[0]),
	}
}

// Misfit is a value that is not of its column's type.
type Misfit struct {
	Row    int64 // from 1
	Column string
	Type   columnar.Type
	Sample string
	// Record is the whole row, where it is rejected for the misfit: each value as JSON.
	Record [][]byte
	// Policy is what becomes of it.
	Policy feedmill.MisfitPolicy
}

func (m *Misfit) Error() string {
	return fmt.Sprintf("row %d: %q does not fit column %q, which has the type %s", m.Row, m.Sample, m.Column, m.Type)
}

// Unwrap makes a misfit a refusal of the data.
func (m *Misfit) Unwrap() error {
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: "misfit", Detail: m.Error()}
}

// converter converts the cells of one column.
type converter struct {
	plan
	nulls    *nullTokens
	location *time.Location
	cells    *columnar.Cells
	index    int // of the column in the data, -1 where it has none
	out      *columnar.Vector
	valid    validity
	// onMisfit says what becomes of a value that does not fit: it reports
	// true where it is to be null.
	onMisfit func(row int) bool
}

// Convert makes a vector for each column of a run of records. The vectors are
// made anew with the memory that they have; there are as many as columns. The
// first value that does not fit its column fails with a [Misfit].
func (s *Schema) Convert(cells *columnar.Cells, vectors []columnar.Vector) error {
	var fault *Misfit
	s.convert(cells, vectors, func(row, column int) bool {
		fault = s.misfit(cells, row, column)
		return false
	})
	if fault != nil {
		return fault
	}
	return nil
}

// ConvertSorting is Convert with what the columns say of misfits: a value that does
// not fit is null, and where it is to have its row rejected the row is left out. The
// misfits are those of the run in the order of its rows, of a row that is rejected only the
// first that says so.
func (s *Schema) ConvertSorting(cells *columnar.Cells, vectors []columnar.Vector) []*Misfit {
	var all []*Misfit
	rejected := map[int]*Misfit{}
	s.convert(cells, vectors, func(row, column int) bool {
		m := s.misfit(cells, row, column)
		all = append(all, m)
		if m.Policy == feedmill.MisfitsReject && rejected[row] == nil {
			rejected[row] = m
		}
		return true
	})
	if len(rejected) > 0 {
		all = slices.DeleteFunc(all, func(m *Misfit) bool {
			of := rejected[int(m.Row-1-cells.First)]
			return of != nil && of != m && m.Policy != feedmill.MisfitsFail
		})
		s.convertWithout(rejected, cells, vectors)
	}
	slices.SortStableFunc(all, func(a, b *Misfit) int { return cmp.Compare(a.Row, b.Row) })
	return all
}

// convertWithout converts the rows that are not rejected, and notes what the others are.
func (s *Schema) convertWithout(rejected map[int]*Misfit, cells *columnar.Cells, vectors []columnar.Vector) {
	kept := columnar.Cells{First: cells.First, Columns: cells.Columns, Data: cells.Data}
	for row := range cells.Rows {
		if m := rejected[row]; m != nil {
			for column := range s.Columns {
				m.Record = append(m.Record, s.written(cells, row, column))
			}
			continue
		}
		kept.Rows++
		kept.Cell = append(kept.Cell, cells.Cell[row*cells.Columns:(row+1)*cells.Columns]...)
	}
	s.convert(&kept, vectors, func(int, int) bool { return true })
}

// written is the value of a column in a row as JSON: what the source says is a number is one,
// and what it has no value for is null.
func (s *Schema) written(cells *columnar.Cells, row, column int) []byte {
	at := s.sourceOf(column)
	if at < 0 {
		return []byte("null")
	}
	cell := cells.At(row, at)
	if kind := cell.Kind(); kind == columnar.CellMissing || kind == columnar.CellNull {
		return []byte("null")
	}
	return appendJSON(nil, cells, cell)
}

func (s *Schema) misfit(cells *columnar.Cells, row, column int) *Misfit {
	c := s.Columns[column]
	return &Misfit{
		Row: cells.First + int64(row) + 1, Column: c.Name, Type: c.Type,
		Sample: sample(textOf(cells, cells.At(row, s.sourceOf(column)))), Policy: c.OnMisfit,
	}
}

func (s *Schema) sourceOf(column int) int {
	if s.source == nil {
		return column
	}
	return s.source[column]
}

// ColumnOf is the column that a column of the data is, which all of them are.
func (s *Schema) ColumnOf(source int) int {
	if s.source == nil {
		return source
	}
	return slices.Index(s.source, source)
}

// convert converts all columns, until onMisfit returns false.
func (s *Schema) convert(cells *columnar.Cells, vectors []columnar.Vector, onMisfit func(row, column int) bool) {
	var long share.Long
	defer long.End()
	if takesLong(cells) {
		long.Step()
	}
	if !s.text {
		s.nulls.mark(cells)
	}
	replaceErrors(cells, nil)
	converted := 0
	for i, column := range s.Columns {
		if converted += 1 + cells.Rows; converted >= tileCells {
			long.Step()
			converted = 0
		}
		c := converter{
			plan: s.plans[i], nulls: &s.nulls, location: s.location, cells: cells, index: s.sourceOf(i), out: &vectors[i],
			onMisfit: func(row int) bool { return onMisfit(row, i) },
		}
		if c.index >= cells.Columns {
			c.index = -1
		}
		if c.loose && c.index >= 0 {
			loosen(cells, c.index, column.Type)
		}
		if !c.convert(column) {
			return
		}
	}
}
