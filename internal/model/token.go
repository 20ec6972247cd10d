package model

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// usualTokens are the texts that mean null in a column whose other values are all of
// one type other than text: those that programs write, and the errors of
// spreadsheets.
var usualTokens = []string{
	"NULL", "null", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "None", "-", "--", `\N`, "?",
	"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#UNKNOWN!", "#GETTING_DATA",
}

// nullTokens are texts that mean null.
type nullTokens struct {
	texts   map[string]bool
	longest int
	first   [256]bool // the bytes that tokens begin with
	// given says that somebody has named them, so that they may look like anything.
	given bool
	// original says that texts are read by the rules of the first release, which knows
	// fewer forms of dates, and formulas that are texts not at all.
	original bool
}

// newNullTokens are those of the option nulls, or else the usual ones.
func newNullTokens(option string) nullTokens {
	n := nullTokens{texts: make(map[string]bool), given: option != ""}
	texts := usualTokens
	switch option {
	case "":
	case "none":
		texts = nil
	default:
		texts = strings.Split(option, ",")
	}
	for _, text := range texts {
		n.texts[text] = true
		n.longest = max(n.longest, len(text))
		if text != "" {
			n.first[text[0]] = true
		}
	}
	return n
}

// has reports whether a text is a token.
func (n *nullTokens) has(text []byte) bool {
	return len(text) <= n.longest && (len(text) == 0 || n.first[text[0]]) && n.texts[string(text)]
}

// mark marks the cells with tokens that somebody has named, which can look like
// values. The usual tokens look like nothing else and are found when they are met.
func (n *nullTokens) mark(cells *columnar.Cells) {
	if !n.given || len(n.texts) == 0 {
		return
	}
	for i, cell := range cells.Cell {
		switch cell.Kind() {
		case columnar.CellPlain, columnar.CellQuoted, columnar.CellString, columnar.CellNumber:
			start, end := cell.Range()
			if int(end-start) <= n.longest && start < end && n.texts[string(trim(cells.Data[start:end]))] {
				cells.Cell[i] = columnar.NewCell(columnar.CellToken, int(start), int(end))
			}
		}
	}
}

// isZeroDate reports whether a text is the date that some databases have for
// none: 0000-00-00, with slashes or dots, the year first or last, with a time of
// zeros perhaps.
func isZeroDate(text []byte) bool {
	if len(text) < 8 || text[0] != '0' {
		return false
	}
	day := text
	if len(text) > 10 {
		if day = text[:10]; text[10] != ' ' && text[10] != 'T' || len(bytes.Trim(text[11:], "0:.")) > 0 {
			return false
		}
	}
	separators := 0
	for _, c := range day {
		switch c {
		case '0':
		case '-', '/', '.':
			separators++
		default:
			return false
		}
	}
	return separators == 2 && len(day) == 10
}

// tokens counts the tokens of a column, each of them.
type tokens map[string]int64

func (t *tokens) add(text []byte) {
	if *t == nil {
		*t = make(tokens)
	}
	(*t)[string(text)]++
}

func (t *tokens) merge(o tokens) {
	for text, count := range o {
		if *t == nil {
			*t = make(tokens, len(o))
		}
		(*t)[text] += count
	}
}

// list names the tokens with how often they are there, the most frequent first.
func (t tokens) list() string {
	var out []string
	for _, text := range t.sorted() {
		out = append(out, fmt.Sprintf("%q (%d)", text, t[text]))
	}
	return strings.Join(out, ", ")
}

func (t tokens) sorted() []string {
	var texts []string
	for text := range t {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		if t[a] != t[b] {
			return int(t[b] - t[a])
		}
		return strings.Compare(a, b)
	})
	return texts
}

// nulled warns of the tokens of a column that has a type in spite of them.
func (d *decision) nulled(c *column, all tally) {
	d.plan.tokens = true
	d.column.Nullable = true
	d.warnings = append(d.warnings, feedmill.Warning{
		Code: feedmill.WarnTokens, Count: all.count, FirstRow: all.firstRow(), Examples: all.list(),
		Detail: fmt.Sprintf("These texts were imported as null because all other values have the type %s: %s. Set nulls=none to keep them as text, or nulls=… to list other texts.", d.column.Type, c.tokens.list()),
	})
}
