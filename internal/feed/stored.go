package feed

import (
	"context"
	"errors"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// stored is a version as a table of cells, so that its values can be made those of
// other types by the rules that hold for all data.
type stored struct {
	columnar.PlainColumns
	reader  *lake.Reader
	version *lake.Version
}

func (s stored) Names() (names []string) {
	for _, c := range s.version.Columns {
		names = append(names, c.Name)
	}
	return names
}

func (stored) Warnings() ([]feedmill.Warning, error) { return nil, nil }

func (stored) Found() (f feedmill.Findings) { return f }

func (stored) Blocks() int { return 1 }

func (s stored) Each(ctx context.Context, _ int, fn func(*columnar.Cells) error) error {
	return s.Read(ctx, 0, 1, fn)
}

// Read gives all rows to fn, a batch at a time.
func (s stored) Read(ctx context.Context, _, _ int, fn func(*columnar.Cells) error) error {
	cells := columnar.Cells{}
	next := int64(0)
	for run, err := range s.reader.Texts(ctx, s.version) {
		if err != nil {
			return err
		}
		cells.Reset()
		cells.First, cells.Columns, cells.Rows = next, len(run), run[0].Len
		next += int64(cells.Rows)
		for row := range cells.Rows {
			for i := range run {
				cell, err := s.cell(&cells, &run[i], i, row)
				if err != nil {
					return err
				}
				cells.Cell = append(cells.Cell, cell)
			}
		}
		if err := fn(&cells); err != nil {
			return err
		}
	}
	return nil
}

func (s stored) cell(cells *columnar.Cells, v *columnar.Vector, column, row int) (columnar.Cell, error) {
	if v.Null(row) {
		return columnar.NewCell(columnar.CellNull, 0, 0), nil
	}
	start := len(cells.Data)
	cells.Data = append(cells.Data, v.Text(row)...)
	if len(cells.Data) > columnar.MaxCellData {
		return 0, errors.New("the texts of some rows are too long to convert")
	}
	kind := columnar.CellPlain
	switch s.version.Columns[column].Type {
	case columnar.TypeText:
		kind = columnar.CellQuoted
	case columnar.TypeJSON:
		kind = columnar.CellJSON
	}
	return columnar.NewCell(kind, start, len(cells.Data)), nil
}

// mustConvert reports whether rows with some columns have to be converted to be those of
// others.
func mustConvert(from, to []feedmill.Column) bool {
	return slices.ContainsFunc(to, func(c feedmill.Column) bool {
		at := slices.IndexFunc(from, func(f feedmill.Column) bool { return f.ID == c.ID })
		return at >= 0 && c.Fixed && lake.MustConvert(&from[at], &c)
	})
}

// convert writes the rows of a version once more, with the types that columns of the
// same ids have which somebody has fixed. It returns the columns with as many digits as the values need.
func (m *Mill) convert(ctx context.Context, name string, v *lake.Version, columns []feedmill.Column, options model.Options, found *misfits) (lake.Version, []feedmill.Column, error) {
	table := stored{reader: m.Reader, version: v}
	schema, to, err := recast(ctx, table, columns, options)
	if err != nil {
		return lake.Version{}, nil, err
	}
	typed := found.watch(schema.Load(ctx, table, model.Loading{Misfit: found.add}), schema.Columns)
	out, err := lake.Write(ctx, m.Blobs, name, typed)
	if err != nil {
		return lake.Version{}, nil, err
	}
	columns = slices.Clone(columns)
	for i, c := range schema.Columns {
		if to[i] >= 0 && columns[to[i]].Fixed {
			columns[to[i]].Precision, columns[to[i]].Scale, columns[to[i]].Nullable = c.Precision, c.Scale, c.Nullable
		}
	}
	return out, columns, nil
}

// recast returns the schema that a version has with the types that columns of the same ids
// have which somebody has fixed, and the index in columns of each of its columns.
func recast(ctx context.Context, table stored, columns []feedmill.Column, options model.Options) (schema *model.Schema, to []int, err error) {
	if schema, _, err = model.Infer(ctx, table, options); err != nil {
		return nil, nil, err
	}
	to = make([]int, len(table.version.Columns))
	for i, c := range table.version.Columns {
		to[i] = slices.IndexFunc(columns, func(wanted feedmill.Column) bool { return wanted.ID == c.ID })
		if to[i] >= 0 && columns[to[i]].Fixed {
			c = columns[to[i]]
		}
		c.Fixed = true
		schema.Columns[i] = c
	}
	_, err = schema.Retype(ctx, table)
	return schema, to, err
}
