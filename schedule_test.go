package feedmill

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

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
		"The interval must be between 1m and 366d.":                                                     {Every: time.Second},
		"A cron expression has five fields: minute, hour, day of the month, month and day of the week.": {Cron: "x"},
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
