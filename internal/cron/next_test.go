package cron

import (
	"testing"
	"time"
	_ "time/tzdata" // so that the zones are there wherever the test runs

	"pgregory.net/rapid"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The clocks of these zones change
//   - in Paris on 2026-03-29 from 02:00 to 03:00 and on 2026-10-25 from 03:00 to 02:00,
//   - in New York on 2026-03-08 from 02:00 to 03:00 and on 2026-11-01 from 02:00 to 01:00,
//   - on Lord Howe Island on 2026-10-04 from 02:00 to 02:30 and on 2026-04-05 from 02:00 to 01:30,
//   - in Apia on 2011-12-30 from 00:00 to the next day.
func TestCronAcrossDaylightSaving(t *testing.T) {
	for _, test := range []struct {
		name, zone, cron, after string
		want                    []string
	}{
		{"a plain day", "Europe/Paris", "30 2 * * *", "2026-03-27T12:00:00+01:00", []string{"2026-03-28T02:30:00+01:00"}},
		{"skipped, then as ever", "Europe/Paris", "30 2 * * *", "2026-03-28T03:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"several skipped run once", "Europe/Paris", "*/15 2 * * *", "2026-03-28T03:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"skipped and due at the end of the gap", "Europe/Paris", "0 2,3 * * *", "2026-03-29T00:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"just before the gap", "Europe/Paris", "59 1 * * *", "2026-03-29T00:00:00+01:00", []string{"2026-03-29T01:59:00+01:00", "2026-03-30T01:59:00+02:00"}},
		{"another day's gap is none", "Europe/Paris", "30 2 28 * *", "2026-03-28T12:00:00+01:00", []string{"2026-04-28T02:30:00+02:00"}},
		{"every hour over the gap", "Europe/Paris", "30 * * * *", "2026-03-29T01:00:00+01:00", []string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"}},
		{"every second hour over the gap", "Europe/Paris", "0 */2 * * *", "2026-03-28T23:00:00+01:00", []string{"2026-03-29T00:00:00+01:00", "2026-03-29T04:00:00+02:00"}},
		{"twice, runs the first time", "Europe/Paris", "30 2 * * *", "2026-10-24T12:00:00+02:00", []string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"asked between the two", "Europe/Paris", "30 2 * * *", "2026-10-25T02:10:00+01:00", []string{"2026-10-26T02:30:00+01:00"}},
		{"several twice", "Europe/Paris", "*/30 2-3 * * *", "2026-10-25T00:00:00+02:00", []string{
			"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T03:00:00+01:00", "2026-10-25T03:30:00+01:00", "2026-10-26T02:00:00+01:00",
		}},
		{"every hour over the fold", "Europe/Paris", "30 * * * *", "2026-10-25T01:00:00+02:00", []string{
			"2026-10-25T01:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00",
		}},
		{"every second hour over the fold", "Europe/Paris", "0 */2 * * *", "2026-10-25T01:00:00+02:00", []string{
			"2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T04:00:00+01:00",
		}},

		{"New York skips", "America/New_York", "30 2 * * 0", "2026-03-07T00:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-15T02:30:00-04:00"}},
		{"New York repeats", "America/New_York", "30 1 * * *", "2026-11-01T00:00:00-04:00", []string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		{"New York every hour", "America/New_York", "0 * * * *", "2026-11-01T00:30:00-04:00", []string{
			"2026-11-01T01:00:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T02:00:00-05:00",
		}},

		{"Lord Howe skips half an hour", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00+10:30", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"Lord Howe, behind its gap", "Australia/Lord_Howe", "45 2 * * *", "2026-10-03T12:00:00+10:30", []string{"2026-10-04T02:45:00+11:00"}},
		{"Lord Howe repeats half an hour", "Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00:00+11:00", []string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"Lord Howe, half of the hour twice", "Australia/Lord_Howe", "*/15 1 * * *", "2026-04-05T01:20:00+11:00", []string{
			"2026-04-05T01:30:00+11:00", "2026-04-05T01:45:00+11:00", "2026-04-06T01:00:00+10:30",
		}},
		{"Lord Howe every hour over the gap", "Australia/Lord_Howe", "15 * * * *", "2026-10-04T01:00:00+10:30", []string{"2026-10-04T01:15:00+10:30", "2026-10-04T03:15:00+11:00"}},
		{"Lord Howe every hour over the fold", "Australia/Lord_Howe", "45 * * * *", "2026-04-05T01:00:00+11:00", []string{
			"2026-04-05T01:45:00+11:00", "2026-04-05T01:45:00+10:30", "2026-04-05T02:45:00+10:30",
		}},

		{"a day that is skipped", "Pacific/Apia", "0 6 30 12 *", "2011-12-01T00:00:00-10:00", []string{"2011-12-31T00:00:00+14:00", "2012-12-30T06:00:00+14:00"}},
		{"leap days", "Europe/Paris", "0 0 29 2 *", "2096-02-29T00:00:00+01:00", []string{"2104-02-29T00:00:00+01:00"}},
		{"the last day of a leap year", "Europe/Paris", "30 */6 * * *", "2096-12-31T00:45:00+01:00", []string{
			"2096-12-31T06:30:00+01:00", "2096-12-31T12:30:00+01:00", "2096-12-31T18:30:00+01:00", "2097-01-01T00:30:00+01:00",
		}},
		{"leap days that are Sundays", "UTC", "0 0 29 2 */6", "2032-03-01T00:00:00Z", []string{"2048-02-29T00:00:00Z", "2060-02-29T00:00:00Z"}},
		{"by number or by weekday", "UTC", "0 0 13 * 5", "2026-02-01T00:00:00Z", []string{"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z"}},
		{"31st", "UTC", "0 0 31 * *", "2026-01-31T00:00:00Z", []string{"2026-03-31T00:00:00Z"}},
		{"the same minute", "UTC", "* * * * *", "2026-01-31T00:00:00.5Z", []string{"2026-01-31T00:01:00Z"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Parse(test.cron)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, test.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				next := c.Next(at, zone(t, test.zone)).In(zone(t, test.zone))
				if got := next.Format(time.RFC3339); got != want {
					t.Fatalf("%q after %s: %s, want %s", test.cron, at, got, want)
				}
				at = next
			}
		})
	}
}

// draw returns a random expression that often runs at most a few times a day.
func draw(t *rapid.T) string {
	field := func(name string, some ...string) string { return rapid.SampledFrom(some).Draw(t, name) }
	return field("minute", "*", "0", "30", "*/15", "7,52", "10-20", "59") + " " +
		field("hour", "*", "*/2", "2", "1-3", "0", "2,14", "23", "3/5") + " " +
		field("day", "*", "*/3", "1", "29", "4,5,25", "8-29") + " " +
		field("month", "*", "3,10", "4-11", "*/2") + " " +
		field("weekday", "*", "0", "1-5", "sat-sun", "*/3")
}

// TestNextMatchesMinuteByMinuteSearch compares Next with a search through all minutes
// around clock changes.
func TestNextMatchesMinuteByMinuteSearch(t *testing.T) {
	moments := map[string][]string{
		"Europe/Paris":        {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"},
		"America/New_York":    {"2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"},
		"Australia/Lord_Howe": {"2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"},
		"America/Santiago":    {"2026-04-05T03:00:00Z", "2026-09-06T04:00:00Z"}, // at midnight
		"UTC":                 {"2026-02-28T23:00:00Z"},
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"Europe/Paris", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "UTC"}).Draw(t, "zone")
		moment, _ := time.Parse(time.RFC3339, rapid.SampledFrom(moments[name]).Draw(t, "moment"))
		after := moment.Add(time.Duration(rapid.IntRange(-6*3600, 3*3600).Draw(t, "seconds")) * time.Second)
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(draw(t))
		if err != nil {
			t.Skip(err)
		}
		next := c.Next(after, z)
		for at := after.Truncate(time.Minute).Add(time.Minute); at.Before(after.Add(8 * time.Hour)); at = at.Add(time.Minute) {
			if runs := c.runs(at, z); runs != at.Equal(next) && !at.After(next) {
				t.Fatalf("%+v after %s is %s; that it runs at %s is %v", *c, after.In(z), next.In(z), at.In(z), runs)
			}
		}
	})
}

// runs reports whether the expression runs at a time. It inspects the minutes around it.
func (c *Expression) runs(at time.Time, z *time.Location) bool {
	local := localTime(at, at, z)
	if c.anyHour {
		return c.allows(local)
	}
	again := false
	for back := time.Minute; back <= 3*time.Hour; back += time.Minute {
		again = again || localTime(at.Add(-back), at.Add(-back), z).Equal(local)
	}
	matches := c.allows(local) && !again
	for skipped := localTime(at, at.Add(-1), z); skipped.Before(local); skipped = skipped.Add(time.Minute) {
		matches = matches || c.allows(skipped)
	}
	return matches
}
