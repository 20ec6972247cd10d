package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// cell is a text in a table. It stands on one line whatever is in it.
type cell struct {
	text string
	tone tone
}

// tone says what a text means, and so its colour at a terminal.
type tone string

const (
	neutral tone = ""
	good    tone = "32"
	waiting tone = "33"
	bad     tone = "31"
	strong  tone = "1"
)

func text(s string) cell { return cell{text: s} }

// texts are cells of no special meaning.
func texts(all ...string) []cell {
	cells := make([]cell, len(all))
	for i, s := range all {
		cells[i] = text(s)
	}
	return cells
}

// orDash is a text, or a dash where it is empty.
func orDash(s string) cell {
	if s == "" {
		return text("-")
	}
	return text(s)
}

// state is the state of a delivery, a subscription, a feed or a refresh.
func state[S ~string](s S) cell {
	c := cell{text: string(s), tone: waiting}
	switch s {
	case S(feedmill.DeliveryDelivered), S(feedmill.SubscriptionActive), S(feedmill.FeedReady), S(feedmill.RefreshSucceeded):
		c.tone = good
	case S(feedmill.DeliveryExhausted), S(feedmill.DeliveryDiscarded), S(feedmill.SubscriptionDisabled), S(feedmill.FeedFailed), S(feedmill.FeedAuthRequired):
		c.tone = bad
	}
	return c
}

// table is rows of cells under a header. Without one it is a list of fields
// and their values.
type table struct {
	header []string
	rows   [][]cell
}

func (t *table) add(row ...cell) { t.rows = append(t.rows, row) }

// field adds the name of a value and the value, unless that is empty.
func (t *table) field(name string, value cell) {
	if value.text != "" {
		t.add(text(name), value)
	}
}

// fields adds names and values that have no special meaning, in turns.
func (t *table) fields(all ...string) {
	for pair := range slices.Chunk(all, 2) {
		t.field(pair[0], text(pair[1]))
	}
}

// table writes the rows with their columns under each other. It counts
// characters before it colours them, which is why it is no tabwriter.
func (p *printer) table(t table) error {
	rows := t.rows
	if t.header != nil {
		head := texts(t.header...)
		for i := range head {
			head[i].tone = strong
		}
		rows = append([][]cell{head}, rows...)
	}
	var widths []int
	for _, row := range rows {
		for i := range row {
			row[i].text = plain(row[i].text)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, c := range row {
			b.WriteString(string(p.coloured(c)))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
			}
		}
		b.WriteByte('\n')
	}
	return p.printf("%s", painted(b.String()))
}

func (p *printer) coloured(c cell) painted {
	text := plain(c.text)
	if !p.colour || c.tone == neutral || text == "" {
		return painted(text)
	}
	return painted("\x1b[" + string(c.tone) + "m" + text + "\x1b[0m")
}
