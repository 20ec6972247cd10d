package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Read runs the statement of a tree, and does the rest.
func (t *table) Read(ctx context.Context, tree *query.Tree, out database.Rows) (done database.Done, err error) {
	plan := t.Plan(tree)
	err = t.read(ctx, t.View, func(bounded context.Context) error {
		done, err = t.run(ctx, bounded, plan, out)
		return err
	})
	return done, err
}

func (t *table) run(ctx, bounded context.Context, plan *query.Plan, out database.Rows) (database.Done, error) {
	columns := plan.Columns()
	finish := database.NewFinish(plan, out, "")
	if err := finish.Columns(ctx, columns); err != nil {
		return database.Done{}, err
	}
	batch := database.NewBatch(plan, columns)
	readers, fast := make([]reader, len(columns)), make([]fastReader, len(columns))
	for i, e := range plan.Fetched {
		readers[i] = t.newReader(e, columns[i])
		if e.Aggregate != feedmill.AggregateSum && !t.SQL.Columns[e.Column.Index].Blob {
			fast[i] = newFastReader(columns[i])
		}
	}
	var handed error // what taking the rows failed with
	err := t.each(bounded, plan.SQL, plan.Args, func(row []dialect.Cell) error {
		for i := range row {
			c, b := &row[i], batch.Columns[i]
			if c.Class == dialect.ClassNull {
				b.Null()
			} else if fast[i] == nil || !fast[i](b, c) {
				if err := readers[i](b, c.Value()); err != nil {
					return err
				}
			}
		}
		handed = batch.Hand(ctx, finish)
		return handed
	})
	switch {
	case errors.Is(handed, database.ErrEnough):
	case handed != nil:
		return database.Done{}, handed
	case err != nil:
		if e, ok := errors.AsType[*dialect.Error](err); ok && e.Large != nil {
			err = tooLarge(e.Large, columns, err)
		} else if ok && e.Code == dialect.CodeError {
			err = t.changed(bounded, err)
		}
		return database.Done{}, err
	default:
		if err := batch.End(ctx, finish); err != nil {
			return database.Done{}, err
		}
	}
	done, err := finish.End(ctx)
	done.Warnings = slices.Concat(t.WarningsOf(plan, true), done.Warnings, batch.Warnings())
	return done, err
}

// reader adds a value that is not null.
type reader func(*database.Builder, driver.Value) error

func (t *table) newReader(e query.Expression, c feedmill.Column) reader {
	switch c.Type {
	case columnar.TypeText:
		if t.SQL.Columns[e.Column.Index].Blob {
			return readBlob
		}
		return readText
	case columnar.TypeJSON:
		return readJSON
	case columnar.TypeNumber:
		return readNumber
	case columnar.TypeDecimal:
		if e.Aggregate == feedmill.AggregateSum {
			return readDigits
		}
		return readDecimal
	case columnar.TypeDate:
		return readDate
	case columnar.TypeTimestamp:
		return readTimestamp
	case columnar.TypeBoolean:
		return readBoolean
	}
	return readInteger
}

// bytesOf is any value as text.
func bytesOf(value driver.Value) []byte {
	switch v := value.(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', 15, 64)
	}
	return fmt.Append(nil, value)
}

func readText(b *database.Builder, value driver.Value) error {
	b.Text(bytesOf(value))
	return nil
}

func readBlob(b *database.Builder, value driver.Value) error {
	if data, ok := value.([]byte); ok {
		b.Base64(data)
	} else {
		b.Misfit(bytesOf(value))
	}
	return nil
}

func readJSON(b *database.Builder, value driver.Value) error {
	b.JSON(bytesOf(value))
	return nil
}

func readInteger(b *database.Builder, value driver.Value) error {
	if n, ok := value.(int64); ok {
		b.Int(n)
	} else {
		b.Misfit(bytesOf(value))
	}
	return nil
}

func readBoolean(b *database.Builder, value driver.Value) error {
	if n, ok := value.(int64); ok && (n == 0 || n == 1) {
		b.Int(n)
	} else {
		b.Misfit(bytesOf(value))
	}
	return nil
}

func readNumber(b *database.Builder, value driver.Value) error {
	switch n := value.(type) {
	case float64:
		b.Float(n)
	case int64:
		b.Float(float64(n))
	default:
		b.Misfit(bytesOf(value))
	}
	return nil
}

// readDecimal takes the shortest digits that mean the number.
func readDecimal(b *database.Builder, value driver.Value) error {
	precision, scale := b.Digits()
	var text []byte
	var room [400]byte
	switch n := value.(type) {
	case float64:
		text = strconv.AppendFloat(room[:0], n, 'f', -1, 64)
	case int64:
		text = strconv.AppendInt(room[:0], n, 10)
	}
	if n, ok := withoutPoint(text, precision, scale); ok {
		b.Int(n)
	} else {
		b.Misfit(bytesOf(value))
	}
	return nil
}

// withoutPoint is a number of so many digits, of which scale stand after the point,
// without its point. It has at most [exactDigits].
func withoutPoint(text []byte, precision, scale int) (n int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	if len(whole) == 0 || len(fraction) > scale || len(whole) > max(precision-scale, 1) {
		return 0, false
	}
	for _, part := range [][]byte{whole, fraction} {
		for _, c := range part {
			if c < '0' || c > '9' {
				return 0, false // infinite, or none at all
			}
			n = 10*n + int64(c-'0')
		}
	}
	for range scale - len(fraction) {
		n *= 10
	}
	most := int64(1)
	for range precision {
		most *= 10
	}
	if n >= most {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// readDigits takes a sum.
func readDigits(b *database.Builder, value driver.Value) error {
	text, _ := value.(string)
	n, ok := dialect.ParseSum(text)
	if !ok {
		return fmt.Errorf("a sum is %T", value)
	}
	wide, ok := database.Int128(n)
	if !ok {
		return database.TooManyDigits(b.Name())
	}
	b.Wide(wide)
	return nil
}

func readDate(b *database.Builder, value driver.Value) error {
	day, err := time.Parse(time.DateOnly, string(bytesOf(value)))
	if err != nil {
		b.Misfit(bytesOf(value))
		return nil
	}
	b.Date(day.Unix() / (24 * 3600))
	return nil
}

// readTimestamp takes a text, or microseconds where it was sorted or grouped by.
func readTimestamp(b *database.Builder, value driver.Value) error {
	if n, ok := value.(int64); ok {
		b.Timestamp(n)
	} else if n, ok := parseMicros(value); ok {
		b.Timestamp(n)
	} else {
		b.Misfit(bytesOf(value))
	}
	return nil
}

// parseMicros is the time of a value that is a text.
func parseMicros(value driver.Value) (int64, bool) {
	text, ok := value.(string)
	if !ok {
		return 0, false
	}
	return dialect.ParseMicros(text)
}
