package worker

import (
	"bytes"
	"unicode/utf8"
)

const (
	// maxCellUnits is how many characters a cell can hold, in UTF-16.
	maxCellUnits = 32_767
	// maxTextStyle is up to how many bytes a text gets the style of text, as
	// some spreadsheets show hashes instead of a longer one.
	maxTextStyle = 255
	// cutMark ends what is left of a text that a cell cannot hold.
	cutMark = "… [cut: see the sheet Notes]"
)

// appendTextCell appends the rest of a cell with text, which is never a
// formula, whatever it begins with.
func appendTextCell(dst []byte, style int, text []byte) []byte {
	dst = append(appendStyle(dst, style), ` t="inlineStr"><is><t`...)
	if n := len(text); n > 0 && (text[0] <= ' ' || text[n-1] <= ' ') {
		dst = append(dst, ` xml:space="preserve"`...)
	}
	dst = appendSheetText(append(dst, '>'), text)
	return append(dst, "</t></is></c>"...)
}

// plainByte says which bytes stand for themselves in the text of a cell,
// whatever comes after them.
var plainByte = func() (table [256]bool) {
	for b := 0x20; b < 0x100; b++ {
		table[b] = true
	}
	table['\t'], table['\n'] = true, true
	table['&'], table['<'], table['>'], table['_'] = false, false, false, false
	table[0xEF] = false // the first byte of U+FFFE and U+FFFF
	return table
}()

// appendSheetText appends text as it stands in the XML of a cell. What XML
// cannot hold is written as _xHHHH_, and so is the first character of what would
// be taken for that.
func appendSheetText(dst, text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	plain := 0
	for i := 0; i < len(text); i++ {
		b := text[i]
		if plainByte[b] {
			continue
		}
		size, code := unitEscape(text[i:])
		switch {
		case size > 0:
		case b == '_' && looksEscaped(text[i:]):
			size, code = 1, '_'
		case b == '&' || b == '<' || b == '>':
			dst = append(append(dst, text[plain:i]...), entities[b]...)
			plain = i + 1
			continue
		default:
			continue
		}
		dst = append(dst, text[plain:i]...)
		const hex = "0123456789ABCDEF"
		dst = append(dst, '_', 'x', hex[code>>12], hex[code>>8&15], hex[code>>4&15], hex[code&15], '_')
		i += size - 1
		plain = i + 1
	}
	return append(dst, text[plain:]...)
}

var entities = map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;"}

// unitEscape is the code of the character that a text begins with, and how many
// bytes it has, if XML cannot hold it or would change it: a carriage return
// becomes a line feed.
func unitEscape(text []byte) (size int, code uint16) {
	switch b := text[0]; {
	case b < ' ' && b != '\t' && b != '\n':
		return 1, uint16(b)
	case bytes.HasPrefix(text, []byte("\uFFFE")):
		return 3, 0xFFFE
	case bytes.HasPrefix(text, []byte("\uFFFF")):
		return 3, 0xFFFF
	}
	return 0, 0
}

// looksEscaped reports whether a text that begins with an underscore would be
// taken for an escape, also where the second underscore is that of one.
func looksEscaped(text []byte) bool {
	const length = len("_xHHHH")
	if len(text) <= length || text[1] != 'x' {
		return false
	}
	for _, b := range text[2:length] {
		if !(b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F') {
			return false
		}
	}
	rest := text[length:]
	size, _ := unitEscape(rest)
	return rest[0] == '_' || size > 0
}

// cellUnits is how many characters a text has in UTF-16. Of one that fits into
// a cell for certain it may answer more than that, but not more than fit.
func cellUnits(text []byte) int {
	if len(text) <= maxCellUnits {
		return len(text)
	}
	units := 0
	for _, b := range text {
		units += unitsAt(b)
	}
	return units
}

// unitsAt is how many characters of UTF-16 begin with a byte of UTF-8.
func unitsAt(b byte) int {
	switch {
	case b >= 0xF0:
		return 2
	case b >= 0x80 && b < 0xC0:
		return 0
	}
	return 1
}

// cutText is the beginning of a text, and the mark that it is that.
func cutText(text []byte) []byte {
	room := maxCellUnits - utf8.RuneCountInString(cutMark)
	end := 0
	for i, b := range text {
		if unitsAt(b) == 0 {
			continue
		}
		if end = i; unitsAt(b) > room {
			break
		}
		room -= unitsAt(b)
	}
	return append(bytes.Clone(text[:end]), cutMark...)
}

// lineWidth is how many characters the first line of a text has.
func lineWidth(text []byte) int {
	line, _, _ := bytes.Cut(text[:min(len(text), 1000)], []byte{'\n'})
	return utf8.RuneCount(line)
}
