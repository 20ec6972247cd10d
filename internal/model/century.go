package model

import (
	"slices"
	"strings"
	"unicode"

	"github.com/feedmill/feedmill"
)

// isBirth reports whether a name has a word that is about births.
func isBirth(name string) bool {
	var words []string
	start := 0
	letters := []rune(name)
	for i := 0; i <= len(letters); i++ {
		ends := i == len(letters) || !unicode.IsLetter(letters[i])
		if ends || i > start && unicode.IsUpper(letters[i]) && unicode.IsLower(letters[i-1]) {
			words = append(words, strings.ToLower(string(letters[start:i])))
			if start = i; ends {
				start = i + 1
			}
		}
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{"birth", "birthday", "dob", "geburtsdatum", "geboren"}, word)
	})
}

// century decides in which century years of two digits are. Nobody is born after the feed was
// created, so such years of birth are of the past century. Other dates keep the rule of POSIX,
// with a warning where all of them are in the future. The order is 0 where the months have names.
func (d *decision) century(c *column, e *evidence, o order) {
	years, dates := c.last, c.tallies[shapeYearLast]
	switch {
	case o == 0: // months have names
		years, dates = c.named, tally{}
		dates.merge(c.tallies[shapeDate])
		dates.merge(c.tallies[shapeTime])
	case o == yearFirst:
		years = c.first
	}
	if e.year == 0 || years.size() == 0 || o == 0 && c.namedLong || o != 0 && c.longYear {
		return
	}
	later, all := 0, 0
	for year := range years.all {
		all++
		if fullYear(year) > e.year {
			later++
		}
	}
	switch {
	case later == 0:
	case c.birth:
		d.plan.latest = e.year
		d.note(feedmill.WarnCentury, dates, "Two-digit years after %d, when the feed was created, were read as past-century years because the column name refers to births. Use four-digit years at the source to avoid this.", e.year)
	case later == all:
		d.note(feedmill.WarnFutureDates, dates, "All dates are after %d, when the feed was created, because two-digit years up to 68 are read as years of this century. Use four-digit years at the source if they belong to the past century.", e.year)
	}
}
