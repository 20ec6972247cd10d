package feedmill

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/strictjson"
)

const (
	// MaxDescription is how many characters the description of a feed may have.
	MaxDescription = 2000
	// maxKey is how many columns a key may have.
	maxKey = 50
)

// ReadSchedule reads when a source is fetched. Whether the values make sense is
// looked at where all of them could be read.
func ReadSchedule(o *strictjson.Object) (s Schedule) {
	f, ok := o.Given("schedule")
	if !ok {
		return s
	}
	if f.Kind != '{' {
		f.Fault("A schedule is an object with every, or with cron and timezone.")
		return s
	}
	in, _ := f.Object()
	right := true
	for name, f := range in.All() {
		text, filled := "", false
		switch name {
		case "every", "cron", "timezone":
			if text, filled = readFilled(f); !filled {
				right = false
				continue
			}
		}
		switch name {
		case "every":
			s.Every, ok = readEvery(f, text)
			right = right && ok
		case "cron":
			s.Cron = text
		case "timezone":
			s.Timezone = text
		default:
			f.Fault("A schedule has no such member; it has every, or cron and timezone.")
			right = false
		}
	}
	if !right {
		return s
	}
	for _, fault := range s.Check() {
		at := f
		if fault.Pointer != "" {
			at = in.Field(strings.TrimPrefix(fault.Pointer, "/"), nil)
		}
		at.Fault(fault.Detail)
	}
	return s
}

// readFilled reads a string that is not empty.
func readFilled(f strictjson.Field) (string, bool) {
	if f.Kind != '"' || f.Value.Text() == "" {
		f.Fault("This must be text, and not empty.")
		return "", false
	}
	return f.Value.Text(), true
}

func readEvery(f strictjson.Field, text string) (time.Duration, bool) {
	every, err := ParseDuration(text)
	switch {
	case err != nil:
		f.Fault(sentence(err))
	case every == 0:
		f.Fault("The interval must be at least " + FormatDuration(MinEvery) + ".")
	default:
		return every, true
	}
	return 0, false
}

// ReadMode reads mode and key. With a key each value of it has one row, the last
// that came, in every mode: a source may give a record twice. What is fetched
// from some value on is only what is new: it adds to what is there, whatever the
// mode is said to be.
func ReadMode(o *strictjson.Object, incremental bool) (mode FeedMode, key []string) {
	f, given := o.Given("key")
	switch {
	case !given:
	case f.Kind != '[':
		f.Fault("This must be an array, not " + strictjson.KindName(f.Kind) + ".")
	case len(f.Items) > maxKey:
		f.Fault(fmt.Sprintf("This may have at most %d elements; it has %d.", maxKey, len(f.Items)))
	default:
		for _, item := range f.Elements() {
			name, ok := item.Text()
			switch {
			case !ok:
			case name == "":
				item.Fault("The name of a column must not be empty.")
			case slices.Contains(key, name):
				item.Fault("This column is named more than once.")
			default:
				key = append(key, name)
			}
		}
	}
	mode = ModeReplace
	if f, ok := o.Given("mode"); ok {
		if word, ok := f.Choice(string(ModeReplace), string(ModeAppend), string(ModeMerge)); ok {
			mode = FeedMode(word)
		}
	}
	switch {
	case mode == ModeMerge && len(key) == 0:
		o.Fault("key", "The mode merge needs the names of the columns that rows are merged by.")
	case incremental && mode == ModeReplace && len(key) > 0:
		mode = ModeMerge
	case incremental && mode == ModeReplace:
		mode = ModeAppend
	}
	return mode, key
}

// ReadDescription reads the description of a feed.
func ReadDescription(o *strictjson.Object) string {
	f, ok := o.Given("description")
	if !ok {
		return ""
	}
	text, _ := f.Text()
	if n := utf8.RuneCountInString(text); n > MaxDescription {
		f.Fault(fmt.Sprintf("This may have at most %d characters; it has %d.", MaxDescription, n))
	}
	if strings.ContainsRune(text, 0) {
		f.Fault("This must not hold the character U+0000.")
	}
	return text
}
