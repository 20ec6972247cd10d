package spec

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func parseSchedule(text string) (feedmill.Schedule, []string) {
	d, err := Parse([]byte(`{"request":{"url":"https://api.test/"},"schedule":`+text+`}`), 0)
	var places []string
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		for _, f := range refusal.Faults {
			places = append(places, strings.TrimPrefix(f.Pointer, "/schedule"))
		}
	}
	return d.Schedule, places
}

func TestSchedule(t *testing.T) {
	for text, want := range map[string]feedmill.Schedule{
		`{"every":"15m"}`:      {Every: 15 * time.Minute},
		`{"cron":"0 6 * * *"}`: {Cron: "0 6 * * *"},
		`{"cron":"0 6 * * 1-5","timezone":"Europe/Paris"}`: {Cron: "0 6 * * 1-5", Timezone: "Europe/Paris"},
		`null`: {},
	} {
		if got, places := parseSchedule(text); places != nil || got != want {
			t.Errorf("%s is read as %+v with faults at %q", text, got, places)
		}
	}
	for text, want := range map[string][]string{
		`[]`:              {""},
		`"15m"`:           {""},
		`{}`:              {""},
		`{"every":15}`:    {"/every"},
		`{"every":"0s"}`:  {"/every"},
		`{"every":"1w"}`:  {"/every"},
		`{"every":"10s"}`: {"/every"},
		`{"every":null}`:  {"/every"},
		`{"cron":"","timezone":["UTC"],"every":"","a/b~c":1}`: {"/a~1b~0c", "/cron", "/every", "/timezone"},
	} {
		if _, places := parseSchedule(text); !slices.Equal(places, want) {
			t.Errorf("%s has faults at %q, want %q", text, places, want)
		}
	}
}
