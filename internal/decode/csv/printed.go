package csv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// printed is how a table is printed for people, as the consoles of databases, SAP and
// Markdown do: with rules of dashes, and with bars between the fields or with all
// fields of a column below each other.
type printed struct {
	delimiter byte
	// framed says that bars stand at both ends of a line, too.
	framed bool
	// columns are where the fields begin, in characters, where there are no bars.
	columns []int
	// boxed says that bars and rules are those of box drawing.
	boxed bool
	// log is set where lines that begin with # stand around the lines of a log.
	log *logLines
}

// reprint writes a table anew that is printed for people, a line for each of its lines,
// and says which delimiter it has then; 0 where it is none.
func (c *Table) reprint(ctx context.Context, options Options, spool *input.Spool) (byte, error) {
	head := make([]byte, min(c.end, c.limits.head))
	if err := input.ReadFull(c.text, head, 0); err != nil {
		return 0, fmt.Errorf("read the head of the table: %w", err)
	}
	p := findPrinted(head, options)
	if p == nil {
		return 0, nil
	}
	rules, first := int64(0), int64(0)
	written, err := spool.Write(func(w io.Writer) error {
		in := bufio.NewReaderSize(input.NewContextReader(ctx, io.NewSectionReader(c.text, 0, c.end)), 256<<10)
		out := bufio.NewWriterSize(w, 256<<10)
		for number := int64(1); ; number++ {
			line, err := readLine(in, c.limits.record)
			if int64(len(line)) > c.limits.record {
				return input.Refuse("record-too-long", "line %d is longer than %d bytes, the maximum", number, c.limits.record)
			}
			text, isRule := p.line(bytes.TrimRight(line, "\r\n"))
			if isRule {
				if rules++; rules == 1 {
					first = number
				}
			}
			if _, err := out.Write(append(text, '\n')); err != nil {
				return err
			}
			if errors.Is(err, io.EOF) {
				return out.Flush()
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		return 0, err
	}
	c.rules = rules
	c.warnings = append(c.warnings, feedmill.Warning{
		Code: feedmill.WarnRule, Count: rules, Examples: []feedmill.Example{{Line: first}},
		Detail: fmt.Sprintf(p.detail(), first),
	})
	return p.delimiter, c.rewritten(ctx, written, spool)
}

// detail says what is not part of the table, the first of it in a line.
func (p *printed) detail() string {
	if p.log != nil {
		return "Lines that start with # (first: line %d) were left out, except for the field names that one of them lists. Set delimiter=… to read them as data."
	}
	return "The table is drawn with lines (first: line %d) and with bars or spaces between the fields, which were left out. Set delimiter=… to read them as data."
}

// rewritten makes a text that was written anew what is read.
func (c *Table) rewritten(ctx context.Context, written input.Source, spool *input.Spool) error {
	text, err := input.OpenText(ctx, written, string(input.UTF8), "", c.limits.chunk, spool)
	if err != nil {
		return err
	}
	text.Encoding, text.Assumed, text.Warnings = c.text.Encoding, c.text.Assumed, c.text.Warnings
	c.text, c.end = text, text.Size()
	return c.trimEnd()
}

// findPrinted finds how a table is printed whose first lines are given, nil where it is
// not. It takes a rule below a line of names that agrees with it.
func findPrinted(head []byte, options Options) *printed {
	if options.Delimiter != 0 || options.Quote != 0 {
		return nil
	}
	if log := findLog(head); log != nil {
		return &printed{delimiter: '\t', log: log}
	}
	boxed := bytes.Contains(head, []byte("─")) || bytes.Contains(head, []byte("━")) || bytes.Contains(head, []byte("═"))
	if boxed {
		head = unboxed(head)
	}
	if !bytes.Contains(head, []byte("--")) && !bytes.Contains(head, []byte("==")) {
		return nil
	}
	p := findRules(head)
	if p != nil {
		p.boxed = boxed
	}
	return p
}

// findRules finds how a table is printed that has rules.
func findRules(head []byte) *printed {
	lines := bytes.Split(head, []byte("\n"))
	for i := 1; i+1 < len(lines) && i < maxPreamble; i++ {
		above, rule, below := bytes.TrimRight(lines[i-1], "\r"), bytes.TrimRight(lines[i], "\r"), bytes.TrimRight(lines[i+1], "\r")
		if !isRule(rule) || isRule(above) || len(bytes.TrimSpace(above)) == 0 || len(bytes.TrimSpace(below)) == 0 {
			continue
		}
		if bars := bytes.Count(rule, []byte("|")) + bytes.Count(rule, []byte("+")); bars > 0 {
			if bars == bytes.Count(above, []byte("|")) && bars == bytes.Count(below, []byte("|")) {
				return &printed{delimiter: '|', framed: isFramed(above) && isFramed(below)}
			}
			continue
		}
		if bars := bytes.Count(above, []byte("|")); bars > 2 && bars == bytes.Count(below, []byte("|")) && isFramed(above) && isFramed(below) {
			return &printed{delimiter: '|', framed: true} // the rules of SAP have no bars
		}
		if p := linedUp(lines[i-1:]); p != nil {
			return p
		}
	}
	return nil
}

// isRule reports whether a line is nothing but a rule.
func isRule(line []byte) bool {
	dashes := 0
	for _, c := range line {
		switch c {
		case '-', '=':
			dashes++
		case '+', '|', ':', ' ':
		default:
			return false
		}
	}
	return dashes > 2
}

func isFramed(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|'
}

// linedUp finds the columns of lines of which the second is a rule of several parts: all
// up to the next empty one must have nothing between them.
func linedUp(lines [][]byte) *printed {
	p := &printed{delimiter: '\t'}
	rule := bytes.TrimRight(lines[1], "\r ")
	for i := range rule {
		if rule[i] != ' ' && (i == 0 || rule[i-1] == ' ') {
			p.columns = append(p.columns, i)
		}
	}
	if len(p.columns) < 2 || bytes.ContainsAny(rule, ":") {
		return nil
	}
	for i, line := range lines {
		if line = bytes.TrimRight(line, "\r "); len(line) == 0 || i == len(lines)-1 && i > 2 {
			break
		}
		if !p.fits(line) {
			return nil
		}
	}
	return p
}

// fits reports whether a line has a space before each of the columns but the first.
func (p *printed) fits(line []byte) bool {
	at, column := 0, 1
	for i := 0; i < len(line) && column < len(p.columns); at++ {
		_, size := utf8.DecodeRune(line[i:])
		if at == p.columns[column]-1 {
			if line[i] != ' ' {
				return false
			}
			column++
		}
		i += size
	}
	return column > 1
}

// line is a line of separated fields, empty for a rule.
func (p *printed) line(line []byte) (text []byte, rule bool) {
	if p.log != nil {
		return p.log.line(line)
	}
	if p.boxed {
		line = unboxed(line)
	}
	switch {
	case isRule(line):
		return nil, true
	case p.delimiter == '|' && !bytes.Contains(line, []byte("|")), p.columns != nil && !p.fits(line):
		return appendField(nil, line, p.delimiter), false
	case p.columns != nil:
		at, field := 0, 0
		for i, column := 0, 1; ; at++ {
			if i == len(line) {
				return appendField(text, line[field:], p.delimiter), false
			}
			if column < len(p.columns) && at == p.columns[column] {
				text = append(appendField(text, line[field:i], p.delimiter), p.delimiter)
				field = i
				column++
			}
			_, size := utf8.DecodeRune(line[i:])
			i += size
		}
	}
	if p.framed && isFramed(line) {
		line = bytes.TrimSpace(line)
		line = line[1 : len(line)-1]
	}
	for i, field := range bytes.Split(line, []byte("|")) {
		if i > 0 {
			text = append(text, p.delimiter)
		}
		text = appendField(text, field, p.delimiter)
	}
	return text, false
}

// appendField appends a field without the spaces around it, in quotes where it needs
// them.
func appendField(text, field []byte, delimiter byte) []byte {
	field = bytes.TrimSpace(field)
	if bytes.IndexByte(field, delimiter) < 0 && bytes.IndexByte(field, '"') < 0 {
		return append(text, field...)
	}
	text = append(text, '"')
	text = append(text, bytes.ReplaceAll(field, []byte(`"`), []byte(`""`))...)
	return append(text, '"')
}
