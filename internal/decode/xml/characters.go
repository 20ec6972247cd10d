package xml

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// The classes of single bytes. Those of characters beyond ASCII may be part of a
// name, which is told by the whole character.
const (
	nameStartByte = 1 << iota
	nameByte
	spaceByte
)

var classOf = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':', c >= utf8.RuneSelf:
			class[c] = nameStartByte | nameByte
		case c >= '0' && c <= '9', c == '-', c == '.':
			class[c] = nameByte
		case c == ' ', c == '\t', c == '\n', c == '\r':
			class[c] = spaceByte
		}
	}
	return class
}()

// checkCharacters finds the first byte of the first character that XML does not
// allow (2.2 [2] Char), or -1, and reports whether there are carriage returns.
func checkCharacters(p []byte) (returns bool, bad int) {
	var all uint64
	controls := 0
	i := 0
	for ; i+8 <= len(p); i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		all |= x
		// The high bit of each byte becomes 1 where the byte is below a blank.
		controls += bits.OnesCount64(^((x | highBits) - ' '*everyByte | x) & highBits)
	}
	for ; i < len(p); i++ {
		all |= uint64(p[i])
		if p[i] < ' ' {
			controls++
		}
	}
	if controls > 0 {
		n := bytes.Count(p, []byte{'\r'})
		returns = n > 0
		if n += bytes.Count(p, []byte{'\n'}); n < controls {
			n += bytes.Count(p, []byte{'\t'})
		}
		if n != controls {
			return returns, firstIllegal(p)
		}
	}
	if all&highBits != 0 && (!utf8.Valid(p) || bytes.Contains(p, []byte("\uFFFE")) || bytes.Contains(p, []byte("\uFFFF"))) {
		return returns, firstIllegal(p)
	}
	return returns, -1
}

// firstIllegal looks at every character.
func firstIllegal(p []byte) int {
	for i := 0; i < len(p); {
		c, n := utf8.DecodeRune(p[i:])
		if c == utf8.RuneError && n <= 1 || !isChar(c) {
			return i
		}
		i += n
	}
	return -1
}

// isChar reports whether XML allows a character (2.2 [2] Char).
func isChar(c rune) bool {
	return c >= ' ' && c <= 0xD7FF || c == '\n' || c == '\t' || c == '\r' || c >= 0xE000 && c <= 0xFFFD || c >= 0x10000 && c <= utf8.MaxRune
}

// illegalCharacter says what is wrong with the bytes that begin with an illegal
// character.
func illegalCharacter(p []byte) string {
	c, n := utf8.DecodeRune(p)
	switch {
	case c == utf8.RuneError && n <= 1:
		return fmt.Sprintf("the byte 0x%02X is not UTF-8; write the document in UTF-8, or declare its encoding", p[0])
	case c == 0:
		return "XML does not allow the zero character; the data is not text, or its encoding must be declared"
	}
	return fmt.Sprintf("XML does not allow the character U+%04X, not even as a reference; remove it", c)
}

// isNameStart reports whether a name may begin with a character (2.3 [4]
// NameStartChar). A colon may not: it parts prefix and name.
func isNameStart(c rune) bool {
	if c < utf8.RuneSelf {
		return c != ':' && classOf[c]&nameStartByte != 0
	}
	return c >= 0xC0 && c <= 0x2FF && c != 0xD7 && c != 0xF7 ||
		c >= 0x370 && c <= 0x1FFF && c != 0x37E ||
		c == 0x200C || c == 0x200D ||
		c >= 0x2070 && c <= 0x218F ||
		c >= 0x2C00 && c <= 0x2FEF ||
		c >= 0x3001 && c <= 0xD7FF ||
		c >= 0xF900 && c <= 0xFDCF ||
		c >= 0xFDF0 && c <= 0xFFFD ||
		c >= 0x10000 && c <= 0xEFFFF
}

// isNameChar reports whether a character may stand in a name (2.3 [4a] NameChar),
// again without the colon.
func isNameChar(c rune) bool {
	if c < utf8.RuneSelf {
		return c != ':' && classOf[c]&nameByte != 0
	}
	return isNameStart(c) || c == 0xB7 || c >= 0x300 && c <= 0x36F || c == 0x203F || c == 0x2040
}
