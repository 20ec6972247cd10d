package feedmill

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestScheduleJSON(t *testing.T) {
	for text, want := range map[string]Schedule{
		`{"every":"15m"}`:      {Every: 15 * time.Minute},
		`{"cron":"0 6 * * *"}`: {Cron: "0 6 * * *"},
		`{"cron":"0 6 * * 1-5","timezone":"Europe/Paris"}`: {Cron: "0 6 * * 1-5", Timezone: "Europe/Paris"},
		`null`: {},
	} {
		got := Schedule{Every: 1}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
		if again, err := json.Marshal(want); err != nil || string(again) != text {
			t.Errorf("%+v is written %s, %v, want %s", want, again, err, text)
		}
		if want.IsZero() != (text == "null") {
			t.Errorf("IsZero of %+v is %v", want, want.IsZero())
		}
	}
}

func TestScheduleJSONRefused(t *testing.T) {
	for text, places := range map[string][]string{
		`[]`:             {""},
		`"15m"`:          {""},
		`{"every":15}`:   {"/every"},
		`{"every":"0s"}`: {"/every"},
		`{"every":"1w"}`: {"/every"},
		`{"every":null}`: {"/every"},
		`{"cron":"","timezone":["UTC"],"every":"","a/b~c":1}`: {"/a~1b~0c", "/cron", "/every", "/timezone"},
	} {
		before := Schedule{Every: time.Hour}
		got := before
		err := json.Unmarshal([]byte(text), &got)
		refusal, ok := errors.AsType[*Error](err)
		if !ok || refusal.Kind != ErrInvalid || got != before {
			t.Errorf("%s: %v, %+v", text, err, got)
			continue
		}
		wantFaults(t, text, refusal.Faults, places)
	}
}

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

func TestCronFields(t *testing.T) {
	set := func(values ...int) (s uint64) {
		for _, v := range values {
			s |= 1 << v
		}
		return s
	}
	for _, test := range []struct {
		text string
		want cron
	}{
		{"0,30 6 1 1 *", cron{set(0, 30), set(6), set(1), set(1), set(0, 1, 2, 3, 4, 5, 6), false, false}},
		{"5-8 */6 1-10/3 JAN-mar,dec 7", cron{set(5, 6, 7, 8), set(0, 6, 12, 18), set(1, 4, 7, 10), set(1, 2, 3, 12), set(0), true, true}},
		{"50/4 22/1 31 7 fri-sun", cron{set(50, 54, 58), set(22, 23), set(31), set(7), set(0, 5, 6), false, true}},
		{"0 0 */10 2 sun-tue", cron{set(0), set(0), set(1, 11, 21, 31), set(2), set(0, 1, 2), false, false}},
		{"0 0 1 1 5-7", cron{set(0), set(0), set(1), set(1), set(0, 5, 6), false, true}},
		{"0 0 1 1 */2", cron{set(0), set(0), set(1), set(1), set(0, 2, 4, 6), false, false}},
		{"0 0 29 2 0/3", cron{set(0), set(0), set(29), set(2), set(0, 3, 6), false, true}},
	} {
		got, err := parseCron(test.text)
		if err != nil || *got != test.want {
			t.Errorf("%q is read as %+v, %v, want %+v", test.text, got, err, test.want)
		}
	}
}

func TestCronRefused(t *testing.T) {
	for _, text := range []string{
		"", "* * * *", "* * * * * *", "@daily", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 * ", "* * * 0 *",
		"* * * * 8", "-1 * * * *", "+1 * * * *", "1- * * * *", "5-1 * * * *", "*/0 * * * *", "*/60 * * * *", "*/x * * * *", "*/ * * * *",
		"1,,2 * * * *", ", * * * *", "** * * * *", "* * * * *-5", "* * L * *", "* * ? * *", "* * * foo *", "* * mon * *", "sun * * * *",
		"0 0 31 2,4,6,9,11 *", "0 0 30-31 2 */2", "٣ * * * *", "99999999999999999999 * * * *", strings.Repeat("1,", 100) + "1 * * * *",
	} {
		if c, err := parseCron(text); err == nil {
			t.Errorf("%q is read as %+v, want a refusal", text, c)
		}
	}
}

func FuzzCron(f *testing.F) {
	for _, text := range []string{"0 6 * * 1-5", "*/15 0-6/2 29 feb *", "0 0 31 * sat-sun", "5/7 * */3 JAN,7 7"} {
		f.Add(text)
	}
	from := time.Date(2026, 2, 28, 23, 59, 30, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCron(text)
		if err != nil {
			return
		}
		at := c.clock(from)
		if at.Before(from) || at.Second() != 0 || !c.allows(at) {
			t.Errorf("%q after %v: %v", text, from, at)
		}
	})
}

// allows reports whether the expression allows what a clock shows.
func (c *cron) allows(shown time.Time) bool {
	return c.minutes>>shown.Minute()&1 == 1 && c.hours>>shown.Hour()&1 == 1 && c.months>>shown.Month()&1 == 1 && c.matchesDay(shown)
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
