package strictjson

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// WrongName says what is wrong with the name of something, which has 1 to most
// characters of visible text; it is empty where nothing is.
func WrongName(s string, most int) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "The name must not be empty."
	case utf8.RuneCountInString(s) > most:
		return fmt.Sprintf("The name may have at most %d characters.", most)
	case strings.ContainsFunc(s, IsControl):
		return "The name must not hold control characters."
	}
	return ""
}

// WrongLabel says what is wrong with a text that must have 1 to most characters,
// none of them a control character; it is empty where nothing is.
func WrongLabel(s string, most int) string {
	switch {
	case s == "":
		return "This must not be empty."
	case utf8.RuneCountInString(s) > most:
		return fmt.Sprintf("This may have at most %d characters.", most)
	case strings.ContainsFunc(s, IsControl):
		return "This must not hold control characters."
	}
	return ""
}

// IsControl reports whether a character is a control character of ASCII.
func IsControl(r rune) bool { return r < ' ' || r == 0x7f }
