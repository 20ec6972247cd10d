package strictjson

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// WrongName describes why s is not a valid name of 1 to most characters. It returns "" if
// the name is valid.
func WrongName(s string, most int) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "The name must not be empty."
	case utf8.RuneCountInString(s) > most:
		return fmt.Sprintf("The name must have at most %d characters; it has %d.", most, utf8.RuneCountInString(s))
	case strings.ContainsFunc(s, IsControl):
		return "The name must not contain control characters."
	}
	return ""
}

// WrongLabel describes why s, the value of a field, is not a text of 1 to most characters without control
// characters. It returns "" if the text is valid.
func WrongLabel(name, s string, most int) string {
	switch {
	case s == "":
		return name + " must not be empty."
	case utf8.RuneCountInString(s) > most:
		return fmt.Sprintf("%s must have at most %d characters; it has %d.", name, most, utf8.RuneCountInString(s))
	case strings.ContainsFunc(s, IsControl):
		return name + " must not contain control characters."
	}
	return ""
}

// IsControl reports whether r is an ASCII control character.
func IsControl(r rune) bool { return r < ' ' || r == 0x7f }
