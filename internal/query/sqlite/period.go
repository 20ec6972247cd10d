package sqlite

import (
	"encoding/json"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Period is the start of a period. The calendar is constant, so that SQLite reads it once.
func (t *Table) Period(c *query.Calendar, _ query.Column, column string) string {
	calendar := "/* " + string(c.Unit) + " in " + c.Zone.Name + " */"
	if !t.Readable {
		calendar = "'" + FormatCalendar(c) + "'"
	}
	return Period + "(" + column + ", " + Calendar + "(" + calendar + "))"
}

// FormatCalendar writes a calendar for [ParseCalendar].
func FormatCalendar(c *query.Calendar) string {
	zone := query.Zone{At: c.Zone.At, Offsets: c.Zone.Offsets} // a name could have a quote
	text, err := json.Marshal(query.Calendar{Unit: c.Unit, Week: c.Week, Zone: &zone})
	if err != nil {
		panic(err) // numbers and a known word
	}
	return string(text)
}

// ParseCalendar reads what [FormatCalendar] wrote.
func ParseCalendar(text string) (*query.Calendar, error) {
	c := new(query.Calendar)
	return c, json.Unmarshal([]byte(text), c)
}

// PeriodStart is the start of the period of a date, which is a text, or of microseconds: nil
// for other values, and for those outside the calendar.
func PeriodStart(c *query.Calendar, value any) any {
	of, n := columnar.TypeTimestamp, int64(0)
	switch v := value.(type) {
	case int64:
		n = v
	case string:
		day, err := time.Parse(time.DateOnly, v)
		if err != nil {
			return nil
		}
		of, n = columnar.TypeDate, day.Unix()/(24*3600)
	default:
		return nil
	}
	start, ok := c.Start(of, n)
	switch {
	case !ok:
		return nil
	case c.Type() == columnar.TypeTimestamp:
		return start
	}
	return time.Unix(start*24*3600, 0).UTC().Format(time.DateOnly)
}
