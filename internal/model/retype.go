package model

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Retype gives columns the types that somebody has set: [feedmill.Column.Retype], or
// the type of a column that is fixed. Values that do not fit are then misfits. Where
// that is not the type that the data has by itself, the column is looked at once
// more, now for how values of that type are written in it. Retype changes the schema,
// and returns the warnings that take the place of those about the columns.
func (s *Schema) Retype(ctx context.Context, table Table) ([]feedmill.Warning, error) {
	wanted := make(map[int]*column)
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Retype == "" && !c.Fixed {
			continue
		}
		if c.Retype != "" {
			c.Type, c.Retype = c.Retype, ""
			c.Precision, c.Scale = 0, 0
		}
		c.Fixed = true
		c.Nullable = c.Nullable || c.OnMisfit == feedmill.MisfitsNull
		at := s.sourceOf(i)
		switch {
		case at < 0:
			s.fixDecimal(i)
		case c.Type == columnar.TypeText:
			s.plans[i] = plan{decimals: point}
			c.Precision, c.Scale = 0, 0
		case s.found[i] == c.Type && !s.plans[i].loose:
			s.fixDecimal(i)
		default:
			wanted[i] = newColumn()
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	err := table.Read(ctx, 0, table.Blocks(), func(cells *columnar.Cells) error {
		if !s.text {
			s.nulls.mark(cells)
		}
		replaceErrors(cells, nil)
		for i, c := range wanted {
			at := s.sourceOf(i)
			if at >= cells.Columns {
				c.nulls += int64(cells.Rows)
				continue
			}
			loosen(cells, at, s.Columns[i].Type)
			for tile := range tiles(cells) {
				c.settled = false
				c.scan(&tile, at, &s.nulls)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.plan(wanted), nil
}

// fixDecimal gives a decimal that was set digits enough for what it had and has.
func (s *Schema) fixDecimal(i int) {
	c, size := &s.Columns[i], s.plans[i].extent
	if c.Type != columnar.TypeDecimal {
		c.Precision, c.Scale = 0, 0
		return
	}
	whole := max(size.whole, c.Precision-c.Scale, 1)
	c.Scale = min(max(size.scale, c.Scale), columnar.WideDigits-1)
	c.Precision = min(whole+c.Scale, columnar.WideDigits)
}

// plan decides how the values of columns are read whose types were set.
func (s *Schema) plan(wanted map[int]*column) (warnings []feedmill.Warning) {
	var scanned []*column
	for _, c := range wanted {
		scanned = append(scanned, c)
	}
	options := s.options
	options.Before = s.Found
	e := (&Inference{options: options}).weigh(scanned, s.Found)
	for i := range s.Columns {
		c := wanted[i]
		if c == nil {
			continue
		}
		column := &s.Columns[i]
		d := decision{column: *column, plan: plan{decimals: point, extent: c.point, tokens: true, loose: true}}
		if c.decimalsOr(e) == comma {
			d.plan.decimals, d.plan.extent = comma, c.comma
		}
		if d.plan.order = orderOf(column.Format); d.plan.order == 0 {
			d.plan.order = c.orderOr(e)
		}
		if null := c.tallies[shapeToken]; null.count > 0 {
			d.nulled(c, null)
		}
		for _, w := range d.warnings {
			w.Column = column.Name
			warnings = append(warnings, w)
		}
		column.Nullable = column.Nullable || c.nulls > 0 || c.empties > 0 || c.tallies[shapeToken].count+c.tallies[shapeZeroDate].count > 0
		s.plans[i] = d.plan
		s.fixDecimal(i)
	}
	return warnings
}

// decimalsOr is the way in which all numbers can be read, else the one that speaks
// for itself elsewhere.
func (c *column) decimalsOr(e *evidence) decimals {
	switch {
	case e.decimalsSet:
		return e.decimals
	case c.read == point || c.read == comma:
		return c.read
	}
	return e.decimals
}

// orderOr is the order in which all dates can be read, else the one that was set or
// found elsewhere; 0 where nothing tells.
func (c *column) orderOr(e *evidence) order {
	if e.orderSet != 0 {
		return e.orderSet
	}
	if o := c.ordered(); o.single() {
		return o
	}
	return e.order(c.separator)
}

// orderOf is the order of a format such as dd/mm/yyyy, 0 where it is none.
func orderOf(format string) order {
	var parts []byte
	for _, b := range []byte(strings.ToLower(format)) {
		if strings.IndexByte("dmy", b) >= 0 && bytes.IndexByte(parts, b) < 0 {
			parts = append(parts, b)
		}
	}
	return orderNamed(string(parts))
}

// loosen lets the texts of a column be whatever they look like, and zeros and
// plus signs stand before numbers: who has set the type knows what they are.
func loosen(cells *columnar.Cells, at int, as columnar.Type) {
	number := as == columnar.TypeInteger || as == columnar.TypeDecimal || as == columnar.TypeNumber
	for ; at < len(cells.Cell); at += cells.Columns {
		cell := cells.Cell[at]
		kind := cell.Kind()
		if kind == columnar.CellString && as != columnar.TypeJSON {
			kind = columnar.CellQuoted
		}
		was, end := cell.Range()
		start := was
		if number && digital>>kind&1 != 0 {
			for end-start > 1 && (cells.Data[start] == '0' || cells.Data[start] == '+') && isDigit(cells.Data[start+1]) {
				start++
			}
		}
		if kind != cell.Kind() || was != start {
			cells.Cell[at] = columnar.NewCell(kind, int(start), int(end))
		}
	}
}

// jsonTexts fills a column of JSON with texts that are JSON. A text that its source
// says is one may be just that.
func (c *converter) jsonTexts() bool {
	c.out.Offsets = append(c.out.Offsets, 0)
	for row := range c.cells.Rows {
		cell := c.cells.At(row, c.index)
		text := jsontext.Value(textOf(c.cells, cell))
		switch {
		case cell.Empty() && withoutValue(cell):
			c.valid.null(row, c.cells.Rows)
		case text.IsValid():
			c.out.Bytes = append(c.out.Bytes, text...)
		case cell.Kind() == columnar.CellString:
			c.out.Bytes = appendJSON(c.out.Bytes, c.cells, cell)
		case !c.isToken(cell) && !c.onMisfit(row):
			return false
		default:
			c.valid.null(row, c.cells.Rows)
		}
		c.out.Offsets = append(c.out.Offsets, uint32(len(c.out.Bytes)))
	}
	c.out.Valid = c.valid.bits()
	return true
}
