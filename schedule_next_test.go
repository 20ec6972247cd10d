package feedmill

import (
	"testing"
	"time"
	_ "time/tzdata" // so that the zones are there wherever the test runs

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/cron"
)

// drawCron draws an expression that is often narrow enough to be rare within a day.
func drawCron(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"*/15 * * * *", "0 */2 * * *", "30 2 * * *", "7,52 2,14 * * 1-5", "59 23 29 * *", "0 0 8-29 3,10 *", "10-20 1-3 */3 4-11 sat-sun",
	}).Draw(t, "cron")
}

func TestNextLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schedule{Every: time.Duration(rapid.IntRange(60, 400*3600).Draw(t, "every")) * time.Second}
		if rapid.Bool().Draw(t, "by cron") {
			s = Schedule{Cron: drawCron(t), Timezone: rapid.SampledFrom([]string{"", "Europe/Paris", "Australia/Lord_Howe"}).Draw(t, "zone")}
			if s.Check() != nil {
				t.Skip()
			}
		}
		seed := ID(rapid.StringN(1, 20, -1).Draw(t, "seed"))
		anchor := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		after := anchor.Add(time.Duration(rapid.Int64Range(-3600, 400*86400).Draw(t, "after")) * time.Second)
		later := after.Add(time.Duration(rapid.Int64Range(0, 86400*1000).Draw(t, "later")) * time.Millisecond)
		next, second := s.Next(after, anchor, seed), s.Next(later, anchor, seed)
		switch {
		case !next.After(after) || !second.After(later):
			t.Fatalf("%v after %v: %v; after %v: %v", s, after, next, later, second)
		case second.Before(next):
			t.Fatalf("%v after %v is %v, and after %v it is %v", s, after, next, later, second)
		case next.After(later) && !second.Equal(next):
			t.Fatalf("%v after %v is %v, but after %v, which is before that, %v", s, after, next, later, second)
		case !s.Next(next.Add(-1), anchor, seed).Equal(next):
			t.Fatalf("%v is not found from the moment before it", next)
		case next.Nanosecond()%1e6 != 0 || next.Location() != time.UTC:
			t.Fatalf("%v is finer than a millisecond, or not in UTC", next)
		}
		if s.Cron == "" {
			if d := next.Sub(anchor) % s.Every; d > min(s.Every/10, maxEverySpread) || next.Before(anchor.Add(s.Every)) {
				t.Fatalf("%v is no time of %v: %v off", next, s, d)
			}
			return
		}
		c, _ := cron.Parse(s.Cron)
		z, _ := s.location()
		planned := c.Next(next.Add(-maxCronSpread-1), z)
		for later := planned; !later.After(next); later = c.Next(later, z) {
			planned = later
		}
		if moved, gap := next.Sub(planned), c.Next(planned, z).Sub(planned); moved > min(gap/10, maxCronSpread) {
			t.Fatalf("%v of %v is moved by %v of %v", planned, s, moved, gap)
		}
	})
}

func TestNextIsSpread(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		Schedule
		from, until time.Duration
	}{
		{Schedule{Every: time.Hour}, time.Hour, 6 * time.Minute},
		{Schedule{Every: 48 * time.Hour}, 48 * time.Hour, maxEverySpread},
		{Schedule{Cron: "0 * * * *"}, time.Hour, maxCronSpread},
		{Schedule{Cron: "*/2 * * * *"}, 2 * time.Minute, 12 * time.Second},
	} {
		const feeds, parts = 1000, 10
		var of [parts]int
		for range feeds {
			moved := test.Next(at.Add(90*time.Second), at, NewID(PrefixDataSource)).Sub(at.Add(test.from))
			of[moved*parts/test.until]++
		}
		for i, n := range of {
			if n < feeds/parts/2 || n > feeds/parts*2 {
				t.Errorf("%v: %d of %d start in part %d of %v", test.Schedule, n, feeds, i+1, test.until)
			}
		}
	}
}

// When a source runs depends on its id for ever: these times must not move.
func TestNextStays(t *testing.T) {
	const one, two = ID("ds_01h455vb4pex5vsknk084sn02q"), ID("ds_7zzzzzzzzzzzzzzzzzzzzzzzzz")
	anchor := time.Date(2026, 1, 1, 0, 0, 0, 1_700_000, time.UTC)
	for _, c := range []struct {
		Schedule
		seed  ID
		after time.Duration
		want  string
	}{
		{Schedule{Every: time.Hour}, one, 0, "2026-01-01T01:03:08.625Z"},
		{Schedule{Every: time.Hour}, two, 0, "2026-01-01T01:05:21.149Z"},
		{Schedule{Every: time.Hour}, one, 10 * time.Hour, "2026-01-01T10:03:08.625Z"},
		{Schedule{Every: 48 * time.Hour}, two, 0, "2026-01-03T00:08:55.248Z"},
		{Schedule{Cron: "0 * * * *"}, one, 0, "2026-01-01T00:00:31.437Z"},
		{Schedule{Cron: "0 * * * *"}, one, time.Hour + 30*time.Second, "2026-01-01T01:00:31.437Z"},
		{Schedule{Cron: "0 * * * *"}, one, time.Hour + 59*time.Second, "2026-01-01T02:00:31.437Z"},
		{Schedule{Cron: "30 6 * * *", Timezone: "Europe/Paris"}, two, 0, "2026-01-01T05:30:53.524Z"},
	} {
		if got := c.Next(anchor.Add(c.after), anchor, c.seed).Format(time.RFC3339Nano); got != c.want {
			t.Errorf("%v of %s after %v: %s, want %s", c.Schedule, c.seed, c.after, got, c.want)
		}
	}
}

func TestNextOfNothing(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range []Schedule{{}, {Cron: "x"}, {Cron: "* * * * *", Timezone: "Mars/Olympus"}} {
		if next := s.Next(at, at, "ds_1"); !next.IsZero() {
			t.Errorf("%v runs at %v", s, next)
		}
	}
}

func BenchmarkNextOfALeapDay(b *testing.B) {
	s := Schedule{Cron: "0 0 29 2 */6", Timezone: "Europe/Paris"}
	for b.Loop() {
		s.Next(time.Date(2072, 3, 1, 0, 0, 0, 0, time.UTC), time.Time{}, "ds_1")
	}
}
