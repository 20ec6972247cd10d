package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// The methods of this file read a value that was found under a name. They note
// what is wrong with it, and their second result says whether nothing is.

// inner reads a value as an object in its own right.
func (o *object) inner(name string, v value) (*object, bool) {
	if v.kind != '{' {
		o.fault(name, "This must be an object, not "+kindName(v.kind)+".")
		return nil, false
	}
	return &object{c: o.c, at: o.pointer(name), members: v.members}, true
}

func (o *object) boolean(name string, v value) (yes, ok bool) {
	if v.kind != 't' && v.kind != 'f' {
		o.fault(name, "This must be true or false, not "+kindName(v.kind)+".")
		return false, false
	}
	return v.kind == 't', true
}

// integer reads a whole number, written without a fraction or an exponent.
func (o *object) integer(name string, v value, least, most int) (int, bool) {
	n, err := strconv.Atoi(string(v.raw))
	if v.kind != '0' || err != nil || n < least || n > most {
		o.fault(name, fmt.Sprintf("This must be a whole number from %d to %d.", least, most))
		return 0, false
	}
	return n, true
}

func (o *object) duration(name string, v value, least, most time.Duration) (time.Duration, bool) {
	text, ok := o.text(name, v)
	if !ok {
		return 0, false
	}
	d, err := feedmill.ParseDuration(text)
	if err != nil {
		o.fault(name, "This is no duration: "+err.Error()+".")
		return 0, false
	}
	if d < least || d > most {
		o.fault(name, fmt.Sprintf("This must be from %s to %s.", feedmill.FormatDuration(least), feedmill.FormatDuration(most)))
		return 0, false
	}
	return d, true
}

// time reads a moment in RFC 3339.
func (o *object) time(name string, v value) (time.Time, bool) {
	text, ok := o.text(name, v)
	if !ok {
		return time.Time{}, false
	}
	t, ok := parseTime(text)
	if !ok {
		o.fault(name, notATime)
	}
	return t, ok
}

// choice reads one of several words.
func (o *object) choice(name string, v value, words ...string) (string, bool) {
	text, ok := o.text(name, v)
	if !ok {
		return "", false
	}
	if !slices.Contains(words, text) {
		o.fault(name, "This must be one of "+strings.Join(words, ", ")+".")
		return "", false
	}
	return text, true
}

// label reads a text of 1 to most characters without control characters.
func (o *object) label(name string, v value, most int) (string, bool) {
	text, ok := o.text(name, v)
	if !ok {
		return "", false
	}
	if detail := wrongLabel(text, most); detail != "" {
		o.fault(name, detail)
		return "", false
	}
	return text, true
}

// wrongLabel says what is wrong with a text that must have 1 to most characters,
// none of them a control character; nothing is the empty answer.
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
