package query

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// The offsets of a zone are those of Go, at all changes and in every year.
func TestZones(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{
		"UTC", "Etc/GMT-14", "Europe/Paris", "Europe/Dublin", "America/Los_Angeles", "Africa/Casablanca", "Asia/Kathmandu", "Australia/Lord_Howe",
		"Pacific/Apia", "America/St_Johns", "Asia/Gaza", "Antarctica/Troll", "America/Nuuk",
	} {
		of, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		z := NewZone(of)
		hours := z.OfHours()
		check := func(second int64) {
			_, want := time.Unix(second, 0).In(of).Zone()
			if got := z.Offset(second); got != int64(want) {
				t.Fatalf("%s at %s: %d, want %d", name, time.Unix(second, 0).UTC(), got, want)
			}
			if got := hours.Offset(second); got != floorMod(int64(want), 3600) {
				t.Fatalf("%s at %s: %d of an hour, want that of %d", name, time.Unix(second, 0).UTC(), got, want)
			}
		}
		for _, at := range z.At {
			for cycle := range int64(3) {
				if at >= CycleStart {
					check(at + cycle*Cycle)
					check(at + cycle*Cycle - 1)
				}
			}
			check(at)
			check(at - 1)
		}
		for range 20_000 {
			check(firstDay*daySeconds + r.Int64N((endDay-firstDay)*daySeconds))
		}
	}
}

// Periods start where people expect it, and end with the years that columns have.
func TestCalendar(t *testing.T) {
	for _, c := range []struct {
		unit feedmill.PeriodUnit
		zone string
		week time.Weekday
		at   string
		want string
	}{
		{feedmill.UnitHour, "Europe/Paris", 1, "2026-10-25T00:30:00Z", "2026-10-25T00:00:00Z"},
		{feedmill.UnitHour, "Europe/Paris", 1, "2026-10-25T01:30:00Z", "2026-10-25T01:00:00Z"}, // the same hour of the clock again
		{feedmill.UnitHour, "Asia/Kathmandu", 1, "2026-01-01T00:00:00Z", "2025-12-31T23:15:00Z"},
		{feedmill.UnitHour, "America/Los_Angeles", 1, "0001-01-01T00:00:00Z", "<null>"},
		{feedmill.UnitDay, "Europe/Paris", 1, "2026-03-28T23:00:00Z", "2026-03-29"},
		{feedmill.UnitDay, "Europe/Paris", 1, "2026-03-29T21:59:59.999999Z", "2026-03-29"},
		{feedmill.UnitDay, "Europe/Paris", 1, "2026-03-29T22:00:00Z", "2026-03-30"},
		{feedmill.UnitDay, "Pacific/Apia", 1, "2011-12-30T09:59:59Z", "2011-12-29"},
		{feedmill.UnitDay, "Pacific/Apia", 1, "2011-12-30T10:00:00Z", "2011-12-31"}, // which had no 30th
		{feedmill.UnitDay, "Europe/Paris", 1, "9999-12-31T23:30:00Z", "<null>"},
		{feedmill.UnitDay, "America/Los_Angeles", 1, "0001-01-01T00:00:00Z", "<null>"},
		{feedmill.UnitWeek, "UTC", 1, "2026-03-29T12:00:00Z", "2026-03-23"},
		{feedmill.UnitWeek, "UTC", 0, "2026-03-29T12:00:00Z", "2026-03-29"},
		{feedmill.UnitWeek, "UTC", 6, "2026-03-29T12:00:00Z", "2026-03-28"},
		{feedmill.UnitWeek, "UTC", 1, "0001-01-01T00:00:00Z", "0001-01-01"},
		{feedmill.UnitWeek, "UTC", 0, "0001-01-06T00:00:00Z", "<null>"},
		{feedmill.UnitWeek, "UTC", 0, "0001-01-07T00:00:00Z", "0001-01-07"},
		{feedmill.UnitMonth, "Europe/Paris", 1, "2026-02-28T23:00:00Z", "2026-03-01"},
		{feedmill.UnitMonth, "UTC", 1, "2024-02-29T23:59:59Z", "2024-02-01"},
		{feedmill.UnitQuarter, "UTC", 1, "2026-06-30T23:59:59Z", "2026-04-01"},
		{feedmill.UnitYear, "Asia/Kathmandu", 1, "2025-12-31T18:15:00Z", "2026-01-01"},
	} {
		of, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		calendar := newCalendar(c.unit, of, c.week)
		start, ok := calendar.Start(columnar.TypeTimestamp, at.UnixMicro())
		got := "<null>"
		switch {
		case ok && c.unit == feedmill.UnitHour:
			got = time.UnixMicro(start).UTC().Format(time.RFC3339Nano)
		case ok:
			got = time.Unix(start*daySeconds, 0).UTC().Format(time.DateOnly)
		}
		from, before := calendar.Range(columnar.TypeTimestamp)
		inside := at.Unix() >= from && at.Unix() < before
		if got != c.want || inside != ok {
			t.Error(fmt.Sprintf("%s of %s in %s", c.unit, c.at, c.zone), got, "want", c.want, "in range:", inside)
		}
	}
}
