package api

import (
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// The functions of this file read a field in the manner of the methods of
// [strictjson.Field].

// readName reads the name of a resource: 1 to 200 characters of visible text.
func readName(f strictjson.Field) string {
	s, ok := f.Text()
	switch {
	case !ok:
	case strings.TrimSpace(s) == "":
		f.Fault("The name must not be empty.")
	case utf8.RuneCountInString(s) > feedmill.MaxNameLen:
		f.Fault(fmt.Sprintf("The name may have at most %d characters.", feedmill.MaxNameLen))
	case strings.ContainsFunc(s, isControl):
		f.Fault("The name must not hold control characters.")
	}
	return s
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// needName reads a name that must be there.
func needName(o *strictjson.Object, field string) string {
	f, ok := o.Need(field)
	if !ok {
		return ""
	}
	return readName(f)
}

// readTexts reads a required array of 1 to most strings. An element that is no
// string is a fault and is passed over.
func readTexts(o *strictjson.Object, name string, most int) iter.Seq2[strictjson.Field, string] {
	return func(yield func(strictjson.Field, string) bool) {
		list, ok := o.Need(name)
		switch {
		case !ok:
			return
		case list.Kind != '[':
			list.Fault("This must be an array of strings, not " + strictjson.KindName(list.Kind) + ".")
			return
		case len(list.Items) == 0 || len(list.Items) > most:
			list.Fault(fmt.Sprintf("This must have 1 to %d elements; it has %d.", most, len(list.Items)))
			return
		}
		for _, f := range list.Elements() {
			if s, ok := f.Text(); ok && !yield(f, s) {
				return
			}
		}
	}
}

func readDuration(f strictjson.Field, least, most time.Duration) (time.Duration, bool) {
	text, ok := f.Text()
	if !ok {
		return 0, false
	}
	d, err := feedmill.ParseDuration(text)
	if err != nil {
		f.Fault("This is no duration: " + err.Error() + ".")
		return 0, false
	}
	if d < least || d > most {
		f.Fault(fmt.Sprintf("This must be from %s to %s.", feedmill.FormatDuration(least), feedmill.FormatDuration(most)))
		return 0, false
	}
	return d, true
}

// readTime reads a moment in RFC 3339.
func readTime(f strictjson.Field) (time.Time, bool) {
	text, ok := f.Text()
	if !ok {
		return time.Time{}, false
	}
	t, ok := parseTime(text)
	if !ok {
		f.Fault(notATime)
	}
	return t, ok
}

// readLabel reads a text of 1 to most characters without control characters.
func readLabel(f strictjson.Field, most int) (string, bool) {
	text, ok := f.Text()
	if !ok {
		return "", false
	}
	if detail := wrongLabel(text, most); detail != "" {
		f.Fault(detail)
		return "", false
	}
	return text, true
}

// wrongLabel says what is wrong with a text that must have 1 to most characters,
// none of them a control character; it is empty where nothing is.
func wrongLabel(text string, most int) string {
	switch {
	case text == "":
		return "This must not be empty."
	case utf8.RuneCountInString(text) > most:
		return fmt.Sprintf("This may have at most %d characters.", most)
	case strings.ContainsFunc(text, isControl):
		return "This must not hold control characters."
	}
	return ""
}
