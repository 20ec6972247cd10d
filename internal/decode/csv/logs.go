package csv

import (
	"bytes"
	"slices"
)

// logLines are the lines of a log whose fields are named by a line that begins with #, as web servers write
// it by the extended format of the W3C, and as Zeek does.
type logLines struct {
	// names is how that line begins, and tabs says that tabs stand between the fields, not spaces.
	names string
	tabs  bool
	// named says that the names were there.
	named bool
}

// findLog finds the line with the names above the first line of a log whose first lines are given, nil where there
// is none that has as many names as that line has fields.
func findLog(head []byte) *logLines {
	if len(head) == 0 || head[0] != '#' {
		return nil
	}
	for _, log := range []logLines{{names: "#Fields:"}, {names: "#fields\t", tabs: true}} {
		names := 0
		for line := range bytes.Lines(head) {
			line = bytes.TrimRight(line, "\r\n")
			if rest, found := bytes.CutPrefix(line, []byte(log.names)); found {
				names = len(log.fields(rest))
			} else if len(line) == 0 || line[0] != '#' {
				if names > 1 && len(log.fields(line)) == names {
					return &log
				}
				break
			}
		}
	}
	return nil
}

// line is a line of separated fields, empty for one that is not part of the table.
func (l *logLines) line(line []byte) (text []byte, rule bool) {
	rest, names := bytes.CutPrefix(line, []byte(l.names))
	switch {
	case names && !l.named:
		l.named = true
	case len(line) > 0 && line[0] == '#':
		return nil, true
	default:
		rest = line
	}
	for i, field := range l.fields(rest) {
		if i > 0 {
			text = append(text, '\t')
		}
		text = appendField(text, field, '\t')
	}
	return text, false
}

// fields are those of a line. Among spaces a field in quotes may have some of its own.
func (l *logLines) fields(line []byte) (fields [][]byte) {
	if l.tabs {
		return bytes.Split(line, []byte("\t"))
	}
	quoted := false
	for field := range bytes.FieldsFuncSeq(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return (r == ' ' || r == '\t') && !quoted
	}) {
		if inner, found := bytes.CutPrefix(field, []byte(`"`)); found && bytes.HasSuffix(inner, []byte(`"`)) {
			field = bytes.ReplaceAll(inner[:len(inner)-1], []byte(`""`), []byte(`"`))
		}
		fields = append(fields, field)
	}
	return fields
}

// boxes are the characters by which boxes are drawn, and those of ASCII that stand for them.
var boxes = []struct{ from, to string }{
	{"│", "|"}, {"┃", "|"}, {"║", "|"}, {"┆", "|"}, {"─", "-"}, {"━", "-"}, {"═", "-"}, {"╌", "-"},
}

// unboxed is a text with bars and dashes for the lines of boxes, and a plus where they meet.
func unboxed(text []byte) []byte {
	text = slices.Clone(text)
	for _, box := range boxes {
		text = bytes.ReplaceAll(text, []byte(box.from), []byte(box.to))
	}
	return bytes.Map(func(r rune) rune {
		if 0x2500 <= r && r <= 0x257f {
			return '+'
		}
		return r
	}, text)
}
