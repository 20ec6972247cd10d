package csv

import (
	"bytes"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// maxLayoutRows is how many rows the layout of a table is found in.
const maxLayoutRows = 400

// find finds the table in the records of a trial. The first record is the one at
// which it looks from, because the one before says how the fields are separated.
func (t *trial) find(header int64, rules feedmill.Rules) (found layout.Table, first int, err error) {
	if first = t.begin(); first == len(t.records) {
		return found, first, nil
	}
	if header == 0 && first == 0 && t.isExport(rules) {
		header = 1
	}
	rows := t.rows(first)
	if rules == feedmill.RulesOriginal {
		// By these rules a cell of spaces is filled.
		for i := range rows {
			for j := range rows[i].Cells {
				rows[i].Cells[j] = string(t.text(t.records[first+i][j]))
			}
		}
	}
	found, err = layout.Find(rows, header, rules)
	for i, name := range found.Names {
		found.Names[i] = strings.TrimSpace(name)
	}
	return found, first, err
}

// begin is the first record that is not about the file itself: sep=; is the line
// by which Excel is told the delimiter.
func (t *trial) begin() int {
	first := t.nextLine(0)
	if first < len(t.records) && bytes.HasPrefix(t.line(first), []byte("sep=")) && len(t.line(first)) <= len("sep=;")+1 {
		first = t.nextLine(first + 1)
	}
	return first
}

// rows are the records from one on, as rows of texts.
func (t *trial) rows(from int) []layout.Row {
	to := min(len(t.records), from+maxLayoutRows)
	rows := make([]layout.Row, 0, to-from)
	line, offset := t.lineOf(from), t.offsets[from]
	for i := from; i < to; i++ {
		line += int64(bytes.Count(t.data[offset:t.offsets[i]], []byte{t.Newline}))
		offset = t.offsets[i]
		row := layout.Row{Line: line, Blank: t.blank(i)}
		if !row.Blank {
			row.Cells = make([]string, len(t.records[i]))
			for j, cell := range t.records[i] {
				row.Cells[j] = strings.TrimSpace(string(t.text(cell)))
			}
		}
		rows = append(rows, row)
	}
	return rows
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

// lineOf is the line at which a record begins, from 1.
func (t *trial) lineOf(record int) int64 {
	return 1 + int64(bytes.Count(t.data[:t.offsets[record]], []byte{t.Newline}))
}
