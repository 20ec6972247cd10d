package sqlite

import (
	"errors"

	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
)

// calendars are those of a connection, by their numbers.
type calendars struct {
	texts []string
	all   []*query.Calendar
}

// maxCalendars is more than the fields of a query.
const maxCalendars = 500

// number returns the number of a calendar.
func (c *calendars) number(text string) (int64, error) {
	for i, known := range c.texts {
		if known == text {
			return int64(i), nil
		}
	}
	calendar, err := dialect.ParseCalendar(text)
	if err != nil || len(c.all) == maxCalendars {
		return 0, errors.Join(err, errors.New("read a calendar"))
	}
	c.texts, c.all = append(c.texts, text), append(c.all, calendar)
	return int64(len(c.all)) - 1, nil
}

// start returns the start of the period that a value is in.
func (c *calendars) start(value any, number int64) any {
	if number < 0 || number >= int64(len(c.all)) {
		return nil
	}
	return dialect.PeriodStart(c.all[number], value)
}
