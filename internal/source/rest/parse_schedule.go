package rest

import (
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readSchedule reads when the source is fetched. Whether the values make sense
// is looked at where all of them could be read.
func readSchedule(o *object) (s feedmill.Schedule) {
	f, ok := o.Given("schedule")
	if !ok {
		return s
	}
	if f.Kind != '{' {
		f.Fault("A schedule is an object with every, or with cron and timezone.")
		return s
	}
	before := len(o.r.faults.List)
	in, _ := f.Object()
	for name, f := range in.All() {
		switch name {
		case "every":
			s.Every = readEvery(f)
		case "cron":
			s.Cron = readFilled(f)
		case "timezone":
			s.Timezone = readFilled(f)
		default:
			f.Fault("A schedule has no such member; it has every, or cron and timezone.")
		}
	}
	if len(o.r.faults.List) > before {
		return s
	}
	for _, fault := range s.Check() {
		o.r.faults.Note(in.Pointer+fault.Pointer, fault.Detail)
	}
	return s
}

// readFilled reads a string that is not empty.
func readFilled(f strictjson.Field) string {
	if f.Kind != '"' || f.Value.Text() == "" {
		f.Fault("This must be text, and not empty.")
		return ""
	}
	return f.Value.Text()
}

func readEvery(f strictjson.Field) time.Duration {
	text := readFilled(f)
	if text == "" {
		return 0
	}
	every, err := feedmill.ParseDuration(text)
	switch {
	case err != nil:
		f.Fault(upperFirst(err.Error()) + ".")
	case every == 0:
		f.Fault("The interval must be at least " + feedmill.FormatDuration(feedmill.MinEvery) + ".")
	}
	return every
}
