package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/store/record"
)

// kinds is how the file keeps what SQLite has no type for: times in milliseconds
// since 1970, durations in milliseconds, and words with spaces between them.
type kinds struct{}

func (kinds) Time(t *time.Time) any         { return timeField{t} }
func (kinds) Duration(d *time.Duration) any { return durationField{d} }
func (kinds) Words(w *[]string) any         { return wordsField{w} }

// scanner reads rows that hold the fields of a record.
func scanner[T any](fields func(*T, record.Kinds) []any) func(record.Row) (T, error) {
	return func(row record.Row) (v T, err error) {
		err = row.Scan(fields(&v, kinds{})...)
		return v, translate(err)
	}
}

// toMillis is a time as it is kept; the zero time is NULL.
func toMillis(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

// fromMillis is the reverse of toMillis.
func fromMillis(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

type timeField struct{ of *time.Time }

func (f timeField) Value() (driver.Value, error) { return toMillis(*f.of).Value() }

func (f timeField) Scan(from any) error {
	var ms sql.NullInt64
	err := ms.Scan(from)
	*f.of = fromMillis(ms)
	return err
}

type durationField struct{ of *time.Duration }

func (f durationField) Value() (driver.Value, error) { return f.of.Milliseconds(), nil }

func (f durationField) Scan(from any) error {
	ms, ok := from.(int64)
	if !ok {
		return fmt.Errorf("a duration is a %T", from)
	}
	*f.of = time.Duration(ms) * time.Millisecond
	return nil
}

type wordsField struct{ of *[]string }

func (f wordsField) Value() (driver.Value, error) { return strings.Join(*f.of, " "), nil }

func (f wordsField) Scan(from any) error {
	text, ok := from.(string)
	if !ok {
		return fmt.Errorf("a list of words is a %T", from)
	}
	*f.of = strings.Fields(text)
	return nil
}
