package model

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Widen is the type of a column that has held values as old says and now gets
// values as new says: the narrowest that holds both exactly. Name, id and source
// are those of old.
func Widen(old, new feedmill.Column) feedmill.Column {
	out := old
	out.Nullable = old.Nullable || new.Nullable
	if old.Type == new.Type && old.Type != columnar.TypeDecimal {
		if old.Format != new.Format && (old.Type == columnar.TypeDate || old.Type == columnar.TypeTimestamp) {
			out.Format = ""
		}
		return out
	}
	out.Type, out.Format, out.Precision, out.Scale = columnar.TypeText, "", 0, 0
	switch pair := [2]columnar.Type{old.Type, new.Type}; {
	case isExact(old) && isExact(new) && old.Format == new.Format:
		whole := max(wholeDigits(old), wholeDigits(new))
		scale := max(old.Scale, new.Scale)
		if whole+scale <= columnar.WideDigits {
			out.Type, out.Format = columnar.TypeDecimal, old.Format
			out.Precision, out.Scale = whole+scale, scale
		}
	case pair == [2]columnar.Type{columnar.TypeDate, columnar.TypeTimestamp},
		pair == [2]columnar.Type{columnar.TypeTimestamp, columnar.TypeDate}:
		out.Type = columnar.TypeTimestamp
	case old.Type == columnar.TypeJSON:
		out.Type = columnar.TypeJSON
	}
	return out
}

func isExact(c feedmill.Column) bool {
	return c.Type == columnar.TypeInteger || c.Type == columnar.TypeDecimal
}

// wholeDigits is how many digits a column has before the decimal separator.
func wholeDigits(c feedmill.Column) int {
	if c.Type == columnar.TypeInteger {
		return 19
	}
	return c.Precision - c.Scale
}

// Fit makes the schema one for a later version of a feed that has the columns
// already. They stay where they are, with their ids and names, found again by
// what the data calls them; where values do not fit a type any more, it widens,
// and new columns come last. Everything that changes is warned of. Fit changes the
// schema.
func (s *Schema) Fit(columns []feedmill.Column) (warnings []feedmill.Warning) {
	found := make([]bool, len(s.Columns))
	out := &Schema{Rows: s.Rows, location: s.location, nulls: s.nulls}
	for _, old := range columns {
		i := s.find(old, found)
		if i < 0 {
			old.Nullable = true
			out.add(old, plan{decimals: point}, -1)
			warnings = append(warnings, feedmill.Warning{
				Code: feedmill.WarnMissing, Column: old.Name, Count: s.Rows, Detail: "the data does not have the column any more; it is null",
			})
			continue
		}
		found[i] = true
		now := s.widen(old, i)
		out.add(now, s.plans[i], i)
		if now.Type != old.Type || now.Scale != old.Scale || now.Precision != old.Precision {
			warnings = append(warnings, feedmill.Warning{
				Code: feedmill.WarnWidened, Column: old.Name, Count: 1,
				Detail: fmt.Sprintf("the column was %s and is %s, because of values that did not fit", typeName(old), typeName(now)),
			})
		}
	}
	for i, column := range s.Columns {
		if found[i] {
			continue
		}
		column.ID = freeID(out.Columns, len(out.Columns))
		column.Name = freeName(out.Columns, column.Name)
		column.Nullable = true // in the rows of earlier versions
		out.add(column, s.plans[i], i)
		warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnAdded, Column: column.Name, Count: 1, Detail: "the data has a column more"})
	}
	*s = *out
	return warnings
}

// find is the column of the data that an old one is.
func (s *Schema) find(old feedmill.Column, found []bool) int {
	for i, column := range s.Columns {
		if !found[i] && column.SourceName == old.SourceName {
			return i
		}
	}
	return -1
}

// widen is an old column with the values of column i.
func (s *Schema) widen(old feedmill.Column, i int) feedmill.Column {
	if s.plans[i].empty {
		old.Nullable = true
		return old
	}
	now := s.Columns[i]
	if old.Type == columnar.TypeNumber && isExact(now) && !s.plans[i].long && now.Format == "" {
		old.Nullable = old.Nullable || now.Nullable
		return old
	}
	return Widen(old, now)
}

// Retype gives columns other types, by the wish of the feed's owner: values
// that do not fit are then misfits. It changes the schema.
func (s *Schema) Retype(types map[string]columnar.Type) {
	for i := range s.Columns {
		c := &s.Columns[i]
		wanted, ok := types[c.ID]
		if !ok || wanted == c.Type {
			continue
		}
		c.Type, c.Precision, c.Scale = wanted, 0, 0
		if wanted == columnar.TypeDecimal {
			c.Scale = min(s.plans[i].extent.scale, columnar.WideDigits-1)
			c.Precision = min(max(s.plans[i].extent.whole, 1)+c.Scale, columnar.WideDigits)
		}
		if wanted == columnar.TypeText {
			c.Format = ""
		}
	}
}

func (s *Schema) add(c feedmill.Column, p plan, source int) {
	s.Columns = append(s.Columns, c)
	s.plans = append(s.plans, p)
	s.source = append(s.source, source)
}

// typeName is the type of a column for messages.
func typeName(c feedmill.Column) string {
	if c.Type == columnar.TypeDecimal {
		return fmt.Sprintf("decimal(%d,%d)", c.Precision, c.Scale)
	}
	return string(c.Type)
}

func freeID(taken []feedmill.Column, from int) string {
	for {
		id := columnID(from)
		if !hasColumn(taken, func(c feedmill.Column) bool { return c.ID == id }) {
			return id
		}
		from++
	}
}

func freeName(taken []feedmill.Column, name string) string {
	free := name
	for n := 2; hasColumn(taken, func(c feedmill.Column) bool { return c.Name == free }); n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	return free
}

func hasColumn(columns []feedmill.Column, is func(feedmill.Column) bool) bool {
	for _, c := range columns {
		if is(c) {
			return true
		}
	}
	return false
}
