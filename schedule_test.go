package feedmill

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // so that the zones are there wherever the test runs

	"github.com/feedmill/feedmill/internal/cron"
	"github.com/feedmill/feedmill/internal/strictjson"
	"pgregory.net/rapid"
)

func TestScheduleCheck(t *testing.T) {
	for _, test := range []struct {
		Schedule
		places []string
	}{
		{Schedule{Every: time.Minute}, nil},
		{Schedule{Every: 366 * 24 * time.Hour}, nil},
		{Schedule{Cron: "* * * * *"}, nil},
		{Schedule{Cron: "0 6 * * 1-5", Timezone: "Europe/Paris"}, nil},
		{Schedule{Cron: "0 6 * * 1-5", Timezone: "UTC"}, nil},
		{Schedule{}, []string{""}},
		{Schedule{Every: time.Minute - 1}, []string{"/every"}},
		{Schedule{Every: 366*24*time.Hour + 1}, []string{"/every"}},
		{Schedule{Every: -time.Hour}, []string{"/every"}},
		{Schedule{Every: time.Hour, Cron: "* * * * *"}, []string{""}},
		{Schedule{Every: time.Hour, Timezone: "Europe/Paris"}, []string{"/timezone"}},
		{Schedule{Every: time.Second, Cron: "x", Timezone: "Mars/Olympus"}, []string{"", "/every", "/cron", "/timezone"}},
		{Schedule{Cron: "0 6 * * *", Timezone: "Local"}, []string{"/timezone"}},
		{Schedule{Cron: "0 6 * * *", Timezone: "localtime"}, []string{"/timezone"}},
		{Schedule{Cron: "0 6 * * *", Timezone: "right/Europe/Paris"}, []string{"/timezone"}},
		{Schedule{Cron: "0 6 * * *", Timezone: "../../etc/localtime"}, []string{"/timezone"}},
		{Schedule{Cron: "0 0 31 2 *"}, []string{"/cron"}},
	} {
		wantFaults(t, test.Schedule, test.Check(), test.places)
	}
}

func TestScheduleFaultsAreSentences(t *testing.T) {
	for want, s := range map[string]Schedule{
		"The interval must be between 1m and 366d.":                                                           {Every: time.Second},
		"A cron expression must have five fields: minute, hour, day of the month, month and day of the week.": {Cron: "x"},
	} {
		if faults := s.Check(); len(faults) != 1 || faults[0].Detail != want {
			t.Errorf("%v: %+v, want %q", s, faults, want)
		}
	}
}

// wantFaults expects a fault in each of the places, told in a sentence.
func wantFaults(t *testing.T, of any, faults []Fault, places []string) {
	t.Helper()
	var got []string
	for _, f := range faults {
		got = append(got, f.Pointer)
		if f.Detail == "" || f.Detail[:1] != strings.ToUpper(f.Detail[:1]) || !strings.HasSuffix(f.Detail, ".") {
			t.Errorf("%v: %q is no sentence", of, f.Detail)
		}
	}
	if !slices.Equal(got, places) {
		t.Errorf("%v is wrong in %q, want %q", of, got, places)
	}
}

func TestSchedulesSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schedule{Every: time.Duration(rapid.Int64Range(60_000, 366*86_400_000).Draw(t, "ms")) * time.Millisecond}
		text, err := json.Marshal(s)
		var again Schedule
		if err != nil || json.Unmarshal(text, &again) != nil || again != s || again.Check() != nil {
			t.Fatalf("%v is written %s, %v, and read as %v", s, text, err, again)
		}
	})
}

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

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"0s", 0},
		{"500ms", 500 * time.Millisecond},
		{"30s", 30 * time.Second},
		{"15m", 15 * time.Minute},
		{"24h", day},
		{"7d", 7 * day},
		{"1h30m", 90 * time.Minute},
		{"1d2h3m4s5ms", day + 2*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond},
		{"106751d", 106751 * day},
		{"007s", 7 * time.Second},
	} {
		got, err := ParseDuration(c.text)
		if err != nil || got != c.want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "s", "5", "5 s", " 5s", "5s ", "-5s", "+5s", "1.5s", "5S", "5sec", "5w", "5us", "30m1h", "1s1s", "1h 30m", "1h30",
		"106752d", "106751d24h", "9223372036854775808ms", "99999999999999999999s", "٣s", "1e3s",
	} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want a refusal", text, d)
		}
	}
}

func TestDurationBetween(t *testing.T) {
	read := DurationBetween(time.Second, 2*time.Minute)
	for text, want := range map[string]time.Duration{"1s": time.Second, "90s": 90 * time.Second, "2m": 2 * time.Minute} {
		if got, err := read(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"999ms": "The duration must be between 1s and 2m.", "121s": "The duration must be between 1s and 2m.", "soon": sentence(errDuration),
	} {
		if got, err := read(text); err == nil || err.Error() != want || !errors.Is(err, ErrInvalid) || got != 0 {
			t.Errorf("%s is %v, %v, want %q", text, got, err, want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Microsecond: "0s", -time.Second: "0s",
		1500 * time.Millisecond: "1500ms", 1500*time.Millisecond + 1: "1500ms",
		30 * time.Second: "30s", 90 * time.Second: "90s", 15 * time.Minute: "15m", 24 * time.Hour: "24h",
		time.Millisecond: "1ms", time.Second: "1s", time.Minute: "1m", time.Hour: "1h",
		36 * time.Hour: "36h", 48 * time.Hour: "2d", 7 * 24 * time.Hour: "7d",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestDurationsSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, 1<<62/int64(time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		text := FormatDuration(d)
		if again, err := ParseDuration(text); err != nil || again != d {
			t.Fatalf("%v is written %q and read as %v, %v", d, text, again, err)
		}
	})
}

func TestReadSchedule(t *testing.T) {
	for _, test := range []struct {
		text   string
		want   Schedule
		faults []string
	}{
		{`{}`, Schedule{}, nil},
		{`{"schedule":null}`, Schedule{}, nil},
		{`{"schedule":{"every":"15m"}}`, Schedule{Every: 15 * time.Minute}, nil},
		{`{"schedule":{"cron":"0 5 * * *","timezone":"Europe/Zurich"}}`, Schedule{Cron: "0 5 * * *", Timezone: "Europe/Zurich"}, nil},
		{`{"schedule":"15m"}`, Schedule{}, []string{"/schedule"}},
		{`{"schedule":{"every":"15m","cron":"0 5 * * *"}}`, Schedule{Every: 15 * time.Minute, Cron: "0 5 * * *"}, []string{"/schedule"}},
		{`{"schedule":{"every":"0s"}}`, Schedule{}, []string{"/schedule/every"}},
		{`{"schedule":{"every":"soon","on":1}}`, Schedule{}, []string{"/schedule/every", "/schedule/on"}},
		{`{"schedule":{"cron":"","timezone":5}}`, Schedule{}, []string{"/schedule/cron", "/schedule/timezone"}},
		{`{"schedule":{"cron":"0 5 * * *","timezone":"Mars"}}`, Schedule{Cron: "0 5 * * *", Timezone: "Mars"}, []string{"/schedule/timezone"}},
	} {
		var got Schedule
		faults := readObject(t, test.text, func(o *strictjson.Object) { got = ReadSchedule(o) })
		if got != test.want || !slices.Equal(faults, test.faults) {
			t.Errorf("%s: %+v, faults at %q, want %+v, %q", test.text, got, faults, test.want, test.faults)
		}
	}
}
