package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// maxPreamble is how many lines can stand before the header.
const maxPreamble = 50

// header finds the record of the trial that names the columns and reports
// whether there is one. Where there is none, it is the first record of the data.
// The line is that of the header, where somebody has set it.
func (t *trial) header(line int64) (record int, named bool, err error) {
	first := t.nextLine(0)
	if first == len(t.records) {
		return first, false, nil
	}
	if bytes.HasPrefix(t.line(first), []byte("sep=")) && len(t.line(first)) <= len("sep=;")+1 {
		first = t.nextLine(first + 1)
		if first == len(t.records) {
			return first, false, nil
		}
	}
	switch {
	case line == NoHeader:
		return first, false, nil
	case line > 0:
		return t.headerAt(line)
	}
	if after, ok := t.behindPreamble(first); ok {
		return after, true, nil
	}
	return first, t.namesColumns(first), nil
}

// headerAt is the record that begins at a line.
func (t *trial) headerAt(line int64) (record int, named bool, err error) {
	for i := range t.records {
		switch at := t.lineNumber(i); {
		case at == line && !t.blank(i):
			return i, true, nil
		case at >= line:
			detail := fmt.Sprintf("no record begins at line %d; the header has to be one", line)
			return 0, false, feedmill.Invalid(detail, feedmill.Fault{Parameter: "header", Detail: detail})
		}
	}
	detail := fmt.Sprintf("line %d is not among the first lines of the data, where the header has to be", line)
	return 0, false, feedmill.Invalid(detail, feedmill.Fault{Parameter: "header", Detail: detail})
}

// lineNumber is the line at which a record begins, from 1.
func (t *trial) lineNumber(record int) int64 {
	return 1 + int64(bytes.Count(t.data[:t.offsets[record]], []byte{t.Newline}))
}

// nextLine is the first record from i on that is not an empty line.
func (t *trial) nextLine(i int) int {
	for i < len(t.records) && t.blank(i) {
		i++
	}
	return i
}

// line is the text of a record.
func (t *trial) line(i int) []byte {
	return bytes.TrimRight(t.data[t.offsets[i]:t.offsets[i+1]], "\r\n")
}

// behindPreamble finds a header behind lines that are not part of the table: a
// title, remarks, or pairs of names and values with an empty line after them.
func (t *trial) behindPreamble(first int) (header int, ok bool) {
	apart := true // every line so far is no record by itself
	for i := first; i < min(len(t.records), first+maxPreamble); i++ {
		if t.blank(i) {
			apart = apart || i > first
			continue
		}
		record := t.records[i]
		remark := t.remark(i)
		if !remark && len(record) == t.width && t.width > 1 && filled(record) == t.width {
			return i, i > first && apart && t.namesColumns(i)
		}
		if filled(record) > 1 && !remark {
			if filled(record) >= t.width {
				return 0, false
			}
			apart = false
		}
		if blankNext := i+1 < len(t.records) && t.blank(i+1); blankNext {
			apart = true
		}
	}
	return 0, false
}

// remark reports whether a line is one: it begins with a # that belongs to no name.
func (t *trial) remark(i int) bool {
	line := t.line(i)
	return bytes.HasPrefix(line, []byte("# ")) || line[0] == '#' && len(t.records[i]) != t.width
}

// filled counts the fields that are not empty.
func filled(record []columnar.Cell) (n int) {
	for _, cell := range record {
		if !cell.Empty() {
			n++
		}
	}
	return n
}

// namesColumns reports whether a record holds names and no values. Years and
// months may be names: tables with a column for each of them have such names,
// in order, and no year or month below them.
func (t *trial) namesColumns(i int) bool {
	names, periods, again := 0, 0, 0
	var last []byte
	next := t.nextLine(i + 1)
	for column, cell := range t.records[i] {
		text := t.text(cell)
		switch {
		case len(text) == 0:
		case isPeriod(text):
			if bytes.Compare(last, text) >= 0 {
				return false
			}
			last = text
			periods++
			if next < len(t.records) && column < len(t.records[next]) && isPeriod(t.text(t.records[next][column])) {
				again++
			}
		case looksTyped(text):
			return false
		default:
			names++
		}
	}
	return names > 0 && (periods == 0 || periods > 1 && again < periods)
}

// isPeriod reports whether a text is a year or a month, such as 2026 or 2026-11.
func isPeriod(text []byte) bool {
	if len(text) != 4 && len(text) != 7 || !bytes.HasPrefix(text, []byte("19")) && !bytes.HasPrefix(text, []byte("20")) {
		return false
	}
	for i, c := range text {
		if isDigit(c) == (i == 4) || i == 4 && c != '-' {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// looksTyped reports whether a text looks like a number, an amount, a date, a
// time or a truth value: like a value and not like the name of a column.
func looksTyped(text []byte) bool {
	text = bytes.TrimSpace(text)
	if bytes.EqualFold(text, []byte("true")) || bytes.EqualFold(text, []byte("false")) {
		return true
	}
	digits, others := 0, 0
	for _, r := range string(text) {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case r == 'T' || r == 'Z' || r == 'e' || r == 'E':
			if digits == 0 {
				return false
			}
			others++
		case strings.ContainsRune("+-.,:/ $%()'€£¥₹₽₩\u00a0\u202f", r):
			others++
		default:
			return false
		}
	}
	return digits*3 >= digits+others && digits > 0
}
