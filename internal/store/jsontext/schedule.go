package jsontext

import (
	"database/sql/driver"
	"time"

	"github.com/feedmill/feedmill"
)

// ScheduleText is a schedule as JSON text.
type ScheduleText struct{ of *feedmill.Schedule }

// Schedule is the text of the schedule that v points at. That of never is {}.
func Schedule(v *feedmill.Schedule) ScheduleText { return ScheduleText{v} }

// schedule is a schedule as it is kept, which no other form of it can change.
type schedule struct {
	Every    time.Duration `json:"every,omitzero"` // in nanoseconds
	Cron     string        `json:"cron,omitzero"`
	Timezone string        `json:"timezone,omitzero"`
}

// Value makes the text.
func (t ScheduleText) Value() (driver.Value, error) {
	return Of(&schedule{t.of.Every, t.of.Cron, t.of.Timezone}).Value()
}

// Scan reads the text.
func (t ScheduleText) Scan(from any) error {
	var kept schedule
	if err := Of(&kept).Scan(from); err != nil {
		return err
	}
	*t.of = feedmill.Schedule{Every: kept.Every, Cron: kept.Cron, Timezone: kept.Timezone}
	return nil
}
