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
