package postgres

import (
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// where builds the condition of a query and collects its values.
type where struct {
	conditions []string
	values     []any
}

// and adds a condition, in which a question mark stands for the value.
func (w *where) and(condition string, value any) {
	w.conditions = append(w.conditions, strings.ReplaceAll(condition, "?", w.value(value)))
}

// value adds a value and returns how the query names it.
func (w *where) value(v any) string {
	w.values = append(w.values, v)
	return "$" + strconv.Itoa(len(w.values))
}

// page adds the condition of a page of records that were made since a time. The
// time is compared through the ids, so that only the partitions of that time
// are read.
func (w *where) page(p feedmill.Page, prefix string, since time.Time) {
	if p.Before != "" {
		w.and("id < ?", p.Before)
	}
	if !since.IsZero() {
		w.and("id >= ?", feedmill.FirstID(prefix, since))
	}
}

func (w *where) clause() string { return " WHERE " + strings.Join(w.conditions, " AND ") }
