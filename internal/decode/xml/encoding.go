package xml

import (
	"bytes"
	"fmt"
	"strings"
)

// Encoding is how a document is written.
type Encoding struct {
	// Name is utf-8, utf-16le, utf-16be, or what the document declares, in small
	// letters.
	Name string
	// Mark is how many bytes the byte order mark has, or 0.
	Mark int
	// Declared is what the XML declaration says, as it says it.
	Declared string
}

// HeadBytes is how much of a document tells its encoding.
const HeadBytes = 4 << 10

var utf8Mark = []byte("\xEF\xBB\xBF")

// signatures are what documents begin with by which their encoding is told (XML 1.0,
// appendix F). The longer ones come first.
var signatures = []struct {
	bytes    string
	encoding string
	mark     int
	wide     bool // two bytes a character
	refused  string
}{
	{bytes: "\x00\x00\xFE\xFF", refused: "UTF-32"},
	{bytes: "\xFF\xFE\x00\x00", refused: "UTF-32"},
	{bytes: "\x00\x00\x00<", refused: "UTF-32"},
	{bytes: "<\x00\x00\x00", refused: "UTF-32"},
	{bytes: "\x4C\x6F\xA7\x94", refused: "EBCDIC"},
	{bytes: "\xEF\xBB\xBF", encoding: "utf-8", mark: 3},
	{bytes: "\xFE\xFF", encoding: "utf-16be", mark: 2, wide: true},
	{bytes: "\xFF\xFE", encoding: "utf-16le", mark: 2, wide: true},
	{bytes: "\x00<", encoding: "utf-16be", wide: true},
	{bytes: "<\x00", encoding: "utf-16le", wide: true},
}

// FindEncoding tells the encoding of a document by its first bytes, of which [HeadBytes]
// are enough: by its byte order mark or the pattern of its first characters, and by what it
// declares. A declaration that contradicts the bytes is a [Fault] (4.3.3). Without any of
// that a document is UTF-8.
func FindEncoding(head []byte) (Encoding, error) {
	found := Encoding{Name: "utf-8"}
	wide, certain := false, false
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.bytes)) {
			if s.refused != "" {
				return Encoding{}, headFault("the document is in %s, which is not supported; write it in UTF-8", s.refused)
			}
			found.Name, found.Mark, wide = s.encoding, s.mark, s.wide
			certain = s.wide || s.mark > 0
			break
		}
	}
	text := head[found.Mark:]
	if wide {
		text = narrow(text, found.Name == "utf-16be")
	}
	scanner := declarationScanner{data: text}
	if !scanner.begins() || scanner.scan() != "" || scanner.found.Encoding == "" {
		// What is wrong with a declaration is said when the document is read.
		return found, nil
	}
	found.Declared = scanner.found.Encoding
	declared := strings.ToLower(found.Declared)
	switch {
	case certain && !agrees(found.Name, declared):
		return Encoding{}, headFault("the document declares the encoding %s, but its first bytes are %s; declare the encoding that the document uses",
			excerpt(found.Declared), strings.ToUpper(found.Name))
	case !certain && isWideName(declared):
		return Encoding{}, headFault("the document declares the encoding %s but uses another; declare the encoding that the document uses, such as UTF-8",
			excerpt(found.Declared))
	case !certain && !isUTF8Name(declared):
		found.Name = declared
	}
	return found, nil
}

// agrees reports whether a document that is surely in an encoding may declare a name.
func agrees(encoding, declared string) bool {
	if encoding == "utf-8" {
		return isUTF8Name(declared)
	}
	return isWideName(declared) && (len(declared) < 2 || !strings.HasPrefix(declared, "utf-16") || declared == "utf-16" || declared == encoding)
}

// isWideName reports whether a name is that of an encoding of two bytes a character.
func isWideName(name string) bool {
	switch name {
	case "utf-16", "utf-16le", "utf-16be", "utf16", "iso-10646-ucs-2", "ucs-2", "unicode":
		return true
	}
	return false
}

// narrow is the beginning of a text in UTF-16 as far as it is ASCII.
func narrow(text []byte, bigEndian bool) []byte {
	out := make([]byte, 0, len(text)/2)
	for ; len(text) >= 2; text = text[2:] {
		low, high := text[0], text[1]
		if bigEndian {
			low, high = high, low
		}
		if high != 0 || low >= 0x80 {
			break
		}
		out = append(out, low)
	}
	return out
}

// headFault is a fault at the beginning of a document.
func headFault(format string, args ...any) error {
	return &Fault{Line: 1, Column: 1, Detail: fmt.Sprintf(format, args...)}
}
