package record

import (
	"database/sql/driver"
	"time"

	"github.com/feedmill/feedmill"
)

// schedule is the field of a schedule, as JSON text. That of never is {}.
type schedule struct{ of *feedmill.Schedule }

// keptSchedule is a schedule as it is kept, which no other form of it can change.
type keptSchedule struct {
	Every    time.Duration `json:"every,omitzero"` // in nanoseconds
	Cron     string        `json:"cron,omitzero"`
	Timezone string        `json:"timezone,omitzero"`
}

// Value makes the text.
func (f schedule) Value() (driver.Value, error) {
	return JSON(&keptSchedule{f.of.Every, f.of.Cron, f.of.Timezone}).Value()
}

// Scan reads the text.
func (f schedule) Scan(from any) error {
	var kept keptSchedule
	if err := JSON(&kept).Scan(from); err != nil {
		return err
	}
	*f.of = feedmill.Schedule{Every: kept.Every, Cron: kept.Cron, Timezone: kept.Timezone}
	return nil
}
