package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// openRows holds the rows of a query until it is known how many digits its open decimals
// have. The digits come as text; see [Builder.OpenDecimal].
type openRows struct {
	rules   query.OpenDecimals
	columns []feedmill.Column
	names   []string // of the outputs
	// digits is what is known of each column that is open, nil for the others.
	digits []*digitCount
	spool  rowSpool
}

// digitCount is how long the values of a column are.
type digitCount struct {
	whole, scale int
	// exact says that the column must not become one of numbers, and lost that a value
	// does not survive as a number.
	exact, lost bool
}

// newOpenRows makes ready to hold rows that have all columns that are fetched, or their
// first ones.
func newOpenRows(p *query.Plan, fetched []feedmill.Column, temp string) *openRows {
	r := &openRows{rules: p.Tree.Open, columns: fetched, names: make([]string, len(fetched)), digits: make([]*digitCount, len(fetched)), spool: rowSpool{folder: temp}}
	for i := range fetched {
		r.names[i] = fetched[i].Name
		if !p.GroupHere && i < len(p.Tree.Outputs) {
			r.names[i] = p.Tree.Outputs[i].Name
		}
		if query.IsOpen(&fetched[i]) {
			r.digits[i] = &digitCount{whole: 1, exact: slices.Contains(p.Tree.Open.Exact, p.Fetched[i].Column.Index)}
		}
	}
	return r
}

// lossy reports whether rows are tested with the numbers that they become, as the first
// rules do, and not with their digits.
func (r *openRows) lossy() bool { return r.rules.Lossy }

// add holds some rows.
func (r *openRows) add(run []columnar.Vector) error {
	for i := range run {
		if d := r.digits[i]; d != nil {
			for row := range run[i].Len {
				if !run[i].Null(row) {
					d.see(run[i].Text(row))
				}
			}
		}
	}
	return r.spool.add(run)
}

// survivingDigits is up to how many digits every decimal survives as a number.
const survivingDigits = 15

// see counts the digits of a value.
func (d *digitCount) see(text []byte) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	d.whole, d.scale = max(d.whole, len(whole)), max(d.scale, len(fraction))
	if !d.lost && len(digits) > survivingDigits {
		n, err := strconv.ParseFloat(string(text), 64)
		d.lost = err != nil || strconv.FormatFloat(n, 'f', -1, 64) != string(text)
	}
}

// decide is the column that holds all values that were seen, and a warning where it is not a
// decimal.
func (r *openRows) decide(i int) (feedmill.Column, *feedmill.Warning, error) {
	c, d := r.columns[i], r.digits[i]
	stored, fits := r.rules.Stored[r.names[i]], d.whole+d.scale <= columnar.WideDigits
	bounded := c.Precision > columnar.WideDigits
	if scale := max(d.scale, c.Scale); d.whole+scale <= columnar.WideDigits {
		d.scale = scale // which the database declares
	}
	survives := !d.lost && !d.exact
	switch {
	case r.rules.Lossy && fits, fits && stored != columnar.TypeText && (stored != columnar.TypeNumber || !survives):
		c.Precision, c.Scale = columnar.WideDigits, d.scale
		if d.whole+d.scale <= columnar.NarrowDigits {
			c.Precision = columnar.NarrowDigits
		}
		return c, nil, nil
	case r.rules.Lossy && bounded: // earlier releases did not read it either
		return c, nil, TooManyDigits(c.Name)
	}
	c.Precision, c.Scale = 0, 0
	warning := &feedmill.Warning{Code: feedmill.WarnDigits, Column: r.names[i], Count: 1}
	switch {
	case r.rules.Lossy:
		c.Type = columnar.TypeNumber
		warning.Detail = fmt.Sprintf("Values have up to %d digits before the decimal point and %d after it, more than the 38 of a decimal. The column has the type number, which stores about 16 digits.", d.whole, d.scale)
		return c, warning, nil
	case survives && (stored == "" || stored == columnar.TypeNumber):
		c.Type = columnar.TypeNumber
		return c, nil, nil
	}
	c.Type = columnar.TypeText
	if fits {
		return c, nil, nil // it has become text before
	}
	warning.Detail = fmt.Sprintf("Values have up to %d digits before the decimal point and %d after it, more than the %d of a decimal, so the column is text. Round the values in a view to get decimals.", d.whole, d.scale, columnar.WideDigits)
	return c, warning, nil
}

// convert makes the values of open decimals those of columns.
func (r *openRows) convert(run []columnar.Vector, columns []feedmill.Column) ([]columnar.Vector, error) {
	converted := slices.Clone(run)
	for i := range run {
		if r.digits[i] == nil || columns[i].Type == columnar.TypeText {
			continue
		}
		b, v := NewBuilder(columns[i]), &run[i]
		for row := range v.Len {
			if v.Null(row) {
				b.Null()
			} else if err := b.addDigits(string(v.Text(row))); err != nil {
				return nil, err
			}
		}
		converted[i] = b.Take()
	}
	return converted, nil
}

// addDigits adds a number that is written with all of its digits.
func (b *Builder) addDigits(text string) error {
	if b.column.Type == columnar.TypeNumber {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("read a decimal: %w", err)
		}
		b.Float(n)
		return nil
	}
	scaled := make([]byte, 0, 40)
	places := -1
	for _, c := range []byte(text) {
		switch {
		case c == '.':
			places = 0
			continue
		case places >= 0:
			places++
		}
		scaled = append(scaled, c)
	}
	for range b.column.Scale - max(places, 0) {
		scaled = append(scaled, '0')
	}
	if len(scaled) <= columnar.NarrowDigits {
		n, err := strconv.ParseInt(string(scaled), 10, 64)
		b.Int(n)
		return err
	}
	n, ok := new(big.Int).SetString(string(scaled), 10)
	if !ok {
		return fmt.Errorf("read a decimal: %q", text)
	}
	wide, ok := Int128(n)
	if !ok {
		return TooManyDigits(b.Name())
	}
	b.Wide(wide)
	return nil
}

// OpenDecimal adds a decimal to a column of open decimals, by its digits: a sign, digits, and
// perhaps a point. Numbers that are equal are written in the same way.
func (b *Builder) OpenDecimal(text []byte) {
	negative := len(text) > 0 && text[0] == '-'
	whole, fraction, _ := bytes.Cut(bytes.TrimLeft(text, "+-"), []byte("."))
	whole, fraction = bytes.TrimLeft(whole, "0"), bytes.TrimRight(fraction, "0")
	if negative && len(whole)+len(fraction) > 0 {
		b.v.Bytes = append(b.v.Bytes, '-')
	}
	if len(whole) == 0 {
		b.v.Bytes = append(b.v.Bytes, '0')
	}
	b.v.Bytes = append(b.v.Bytes, whole...)
	if len(fraction) > 0 {
		b.v.Bytes = append(append(b.v.Bytes, '.'), fraction...)
	}
	b.endText()
}

// OpenWhole is [Builder.OpenDecimal] for a vector that came as one.
func (b *Builder) OpenWhole(v columnar.Vector) columnar.Vector {
	for i := range v.Len {
		switch {
		case v.Null(i):
			b.Null()
		case v.Offsets != nil:
			b.OpenDecimal(v.Text(i))
		default:
			b.OpenDecimal([]byte(digits(&v, i).String()))
		}
	}
	return b.Take()
}

// compareDigits compares numbers that are written with all of their digits.
func compareDigits(a, b string) int {
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b)
	if x == nil || y == nil {
		return 0
	}
	return x.Cmp(y)
}

// addGrouped gives rows to the groups, once the types are known.
func (f *Finish) addGrouped(run []columnar.Vector, kept []int) error {
	if f.open == nil {
		return f.group.add(run, kept)
	}
	if kept != nil {
		run = slices.Clone(run)
		for i := range run {
			run[i] = pick(&run[i], kept)
		}
	}
	return f.open.add(run)
}

// hand hands on rows of the result, once the types are known.
func (f *Finish) hand(ctx context.Context, result []columnar.Vector) error {
	if f.open == nil {
		return f.out.Rows(ctx, result)
	}
	return f.open.add(result)
}

// decide finds the types of open decimals and hands on the rows that were held for it.
func (f *Finish) decide(ctx context.Context) error {
	held := f.open
	defer held.spool.close()
	columns := slices.Clone(held.columns)
	for i := range columns {
		if held.digits[i] == nil {
			continue
		}
		c, warning, err := held.decide(i)
		if err != nil {
			return err
		}
		if columns[i] = c; warning != nil {
			f.done.Warnings = append(f.done.Warnings, *warning)
		}
		if c.Type == columnar.TypeText && f.plan.GroupHere {
			return Fail(ProblemTooMuch, fmt.Sprintf("A filter of this query cannot run in the database, and values of %s have more than %d digits, which Feedmill cannot group. Remove that filter or the aggregates.", c.Name, columnar.WideDigits), nil)
		}
	}
	f.open = nil
	if err := f.Columns(ctx, columns); err != nil {
		return err
	}
	err := held.spool.each(func(run []columnar.Vector) error {
		run, err := held.convert(run, columns)
		switch {
		case err != nil:
			return err
		case held.lossy():
			return f.take(ctx, run)
		case f.plan.GroupHere:
			return f.addGrouped(run, nil)
		}
		return f.hand(ctx, run)
	})
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}
