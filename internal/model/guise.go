package model

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// guises counts the texts of a column that are numbers with something around them
// that the rules leave as text: 5 kg, 1.2M, +85.00, <0.01. An owner who expects numbers there
// learns of it by a warning.
type guises struct {
	tally
	// with are the things, each with how often it is there. There are a few of them only, or
	// many is set, and then they are more likely parts of names.
	with tokens
	many bool
}

// maxGuises is how many different things are counted.
const maxGuises = 8

func (g *guises) add(row int64, text []byte, with string) {
	g.tally.add(row, text)
	if !g.many {
		g.with.add([]byte(with))
		g.many = len(g.with) > maxGuises
	}
}

func (g *guises) merge(o guises) {
	g.tally.merge(o.tally)
	g.with.merge(o.with)
	g.many = g.many || o.many || len(g.with) > maxGuises
}

// magnitudes are words for powers of ten behind a number.
var magnitudes = wordSet("k K M m B b bn mn Mio Mio. Mrd Mrd. Tsd Tsd. T 千 万 萬 億 亿 만 억")

// alike reports whether what stands around the numbers is a way of writing rather than names: few
// things that are there again and again, or one in a column that has so many bare numbers, too.
func (g *guises) alike(bare int64) bool {
	if g.many || g.count == 0 {
		return false
	}
	others := 0
	for with := range g.with {
		if !magnitudes[with] && !slices.Contains(comparisons, with) && with != "+" {
			others++
		}
	}
	return others == 0 || others == 1 && g.count+bare > 1 || int64(others)*4 <= g.count
}

// dials reports whether all are whole numbers with a plus, as those of telephones have.
func (g *guises) dials() bool {
	return g.with["+"] == g.count && !slices.ContainsFunc(g.examples, func(e example) bool { return strings.ContainsAny(e.text, ".,") })
}

// comparisons are what stands before a number that is a limit, and the backslash, by which
// old Japanese fonts show the sign of the yen.
var comparisons = []string{"<", ">", "<=", ">=", "≤", "≥", "~", "≈", `\`}

// affixOf returns the text around a number that the rules leave as text. It reports
// false where a text is no such number.
func affixOf(text []byte) (with string, ok bool) {
	if isLetter(text[0]) {
		return "", false
	}
	if rest, found := bytes.CutPrefix(text, []byte("+")); found {
		a, number := readAmount(rest)
		// Longer ones are those of telephones.
		return "+", number && !a.weak && (a.point.scale > 0 || a.comma.scale > 0 || a.point.whole <= 6)
	}
	for _, sign := range comparisons {
		if rest, found := bytes.CutPrefix(text, []byte(sign)); found && len(rest) > 0 && rest[0] != '=' {
			_, number := readAmount(trim(rest))
			return sign, number
		}
	}
	return guiseBehind(text)
}

// guiseBehind is a unit that the rules do not know, behind a number.
func guiseBehind(text []byte) (unitText string, ok bool) {
	last := lastDigit(text)
	if last < 0 || !isDigit(text[0]) && text[0] != '-' {
		return "", false
	}
	unit := trim(text[last+1:])
	if len(unit) == 0 || len(unit) > maxUnit || bytes.ContainsAny(unit, " -/:,;()") || unit[0] == '.' || ordinals[string(unit)] {
		return "", false
	}
	number, ok := readNumber(bytes.TrimPrefix(text[:last+1], []byte("-")))
	// Letters right behind many digits are part of a name.
	return string(unit), ok && (number.point.whole <= 6 || number.point.scale > 0 || !number.plain || last+1+len(unit) < len(text))
}

// maxUnit is how many bytes a unit has.
const maxUnit = 12

// guised warns of a column of text whose values are numbers with something around
// them. It reports whether it did. Where most are numbers without anything, the others are
// taken for mistakes, of which another warning tells.
func (d *decision) guised(c *column, n int64) bool {
	bare := c.count(numbers...)
	like := c.guises.count + bare
	most := n * (10 - misfitShare)
	if !c.guises.alike(bare) || bare == 0 && c.guises.dials() || like*10 < most || bare*10 >= most {
		return false
	}
	var list []string
	for _, with := range c.guises.with.sorted() {
		list = append(list, fmt.Sprintf("%q (%d)", with, c.guises.with[with]))
	}
	way := "Remove that text at the source to get numbers."
	if c.guises.with["+"] == c.guises.count {
		way = "Set the column's type in columns to get numbers."
	}
	d.note(feedmill.WarnNumericText, c.guises.tally, "%d of %d values are numbers, some with additional text: %s. The column is text. %s", like, n, strings.Join(list, ", "), way)
	return true
}
