package postgres

import (
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/feedmill/feedmill/internal/store/record"
)

// kinds is how the database keeps what the other engine has no type for.
type kinds struct{}

func (kinds) Time(t *time.Time) any         { return timeField{t} }
func (kinds) Duration(d *time.Duration) any { return (*int64)(d) }
func (kinds) Words(w *[]string) any         { return w }

// scanner reads rows that hold the fields of a record.
func scanner[T any](fields func(*T, record.Kinds) []any) func(record.Row) (T, error) {
	return func(row record.Row) (v T, err error) {
		err = row.Scan(fields(&v, kinds{})...)
		return v, translate(err)
	}
}

// timeField is a time in UTC; the zero time is NULL.
type timeField struct{ of *time.Time }

func (f timeField) Value() (driver.Value, error) {
	return sql.NullTime{Time: *f.of, Valid: !f.of.IsZero()}.Value()
}

func (f timeField) Scan(from any) error {
	var t sql.NullTime
	err := t.Scan(from)
	*f.of = t.Time.UTC()
	return err
}

// orNull is a time for a column; the zero time is NULL.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// orZero is the reverse of orNull.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// clock is the time as records keep it. Ids never go back, the clock may: what
// is due now is due by the clock.
func clock() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
