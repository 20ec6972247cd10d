package model

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Schema is the columns of data and how their values are read. Its methods do not
// change it, so that several goroutines may use it, except where they say so.
type Schema struct {
	Columns []feedmill.Column
	// Rows is how many rows the data has.
	Rows int64
	// Found is how the data is written.
	Found feedmill.Findings

	plans    []plan
	location *time.Location
	nulls    nullTokens
	// text says that all columns are text, exactly as they stand in the data.
	text bool
	// source says for each column which one of the data it is, or -1; nil
	// means that they are the same.
	source []int
}

// Misfit is a value that is not of its column's type.
type Misfit struct {
	Row    int64 // from 1
	Column string
	Type   columnar.Type
	Sample string
	// Record is the texts of the whole row, where it is rejected for the misfit.
	Record []string
}

func (m *Misfit) Error() string {
	return fmt.Sprintf("row %d: %q is no value for the column %q, which is %s", m.Row, m.Sample, m.Column, m.Type)
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

// ConvertNulling is Convert with null for every value that does not fit. Misfit is
// told of each, in the order of the rows.
func (s *Schema) ConvertNulling(cells *columnar.Cells, vectors []columnar.Vector, misfit func(*Misfit)) {
	var all []*Misfit
	s.convert(cells, vectors, func(row, column int) bool {
		all = append(all, s.misfit(cells, row, column))
		return true
	})
	slices.SortStableFunc(all, func(a, b *Misfit) int { return cmp.Compare(a.Row, b.Row) })
	for _, m := range all {
		misfit(m)
	}
}

// ConvertRejecting is Convert without the rows that have a value that does not
// fit. Reject is told of each such row once, with its first misfit, in order.
func (s *Schema) ConvertRejecting(cells *columnar.Cells, vectors []columnar.Vector, reject func(*Misfit)) {
	rejected := map[int]*Misfit{}
	s.convert(cells, vectors, func(row, column int) bool {
		if rejected[row] == nil {
			rejected[row] = s.misfit(cells, row, column)
		}
		return true
	})
	if len(rejected) == 0 {
		return
	}
	kept := columnar.Cells{First: cells.First, Columns: cells.Columns, Data: cells.Data}
	for row := range cells.Rows {
		if m := rejected[row]; m != nil {
			for column := range cells.Columns {
				m.Record = append(m.Record, string(textOf(cells, cells.At(row, column))))
			}
			reject(m)
			continue
		}
		kept.Rows++
		kept.Cell = append(kept.Cell, cells.Cell[row*cells.Columns:(row+1)*cells.Columns]...)
	}
	s.convert(&kept, vectors, func(int, int) bool { return true })
}

func (s *Schema) misfit(cells *columnar.Cells, row, column int) *Misfit {
	c := s.Columns[column]
	return &Misfit{
		Row: cells.First + int64(row) + 1, Column: c.Name, Type: c.Type,
		Sample: sample(textOf(cells, cells.At(row, s.sourceOf(column)))),
	}
}

func (s *Schema) sourceOf(column int) int {
	if s.source == nil {
		return column
	}
	return s.source[column]
}

// convert converts all columns, until onMisfit returns false.
func (s *Schema) convert(cells *columnar.Cells, vectors []columnar.Vector, onMisfit func(row, column int) bool) {
	if !s.text {
		s.nulls.mark(cells)
	}
	replaceErrors(cells, nil)
	for i, column := range s.Columns {
		c := converter{
			plan: s.plans[i], nulls: &s.nulls, location: s.location, cells: cells, index: s.sourceOf(i), out: &vectors[i],
			onMisfit: func(row int) bool { return onMisfit(row, i) },
		}
		if c.index >= cells.Columns {
			c.index = -1
		}
		if !c.convert(column) {
			return
		}
	}
}
