package xml

import (
	"encoding/binary"
	"unicode/utf8"
)

// Name is the name of an element or an attribute. It never changes. The same name is
// mostly, and not always, the same pointer: equal pointers are equal names.
type Name struct {
	// Space is the name of the namespace, or empty where there is none.
	Space string
	// Prefix is what stands before the colon, or empty, and Local what stands
	// behind it.
	Prefix, Local string
}

// String is the name as the document has it.
func (n *Name) String() string {
	if n.Prefix == "" {
		return n.Local
	}
	return n.Prefix + ":" + n.Local
}

// appendTo appends the name as the document has it.
func (n *Name) appendTo(to []byte) []byte {
	if n.Prefix != "" {
		to = append(append(to, n.Prefix...), ':')
	}
	return append(to, n.Local...)
}

// symbol is a name as it is spelled in the document, with everything that has been
// found out about it, so that the next time takes only a look.
type symbol struct {
	text string
	// spelling is the text, and behind that of an attribute the =" that mostly
	// follows; head are its first bytes as they lie in memory, mask which of
	// them count, and tail is what stands behind the first eight.
	spelling   string
	head, mask uint64
	tail       string

	// prefix is nil for an attribute without one, which is in no namespace.
	prefix *prefix
	// declares is the prefix that an attribute declares.
	declares *prefix
	// colon is where the local name begins, behind the colon.
	colon int

	// name is what the name means in the namespace that was looked at last, and
	// meanings in the ones before it.
	name     *Name
	space    *space
	expanded *expandedName
	meanings []meaning

	// seen is the tag that an attribute was met in last.
	seen uint64
	// child is the element that was the first to begin in this one the last time, and
	// sibling the one that began after it; attributes are those that it had.
	child, sibling *symbol
	attributes     []*symbol
}

// meaning is what a name means in a namespace.
type meaning struct {
	space    *space
	name     *Name
	expanded *expandedName
}

// expandedName is a name without its prefix. Attributes of different spelling can
// have the same.
type expandedName struct {
	// seen is the tag that it was met in last.
	seen uint64
}

// matches reports whether the spelling stands at a place. There have to be at
// least eight bytes behind it.
func (s *symbol) matches(buf []byte, at int) bool {
	if binary.LittleEndian.Uint64(buf[at:])&s.mask != s.head {
		return false
	}
	if s.tail == "" {
		return true
	}
	at += 8
	return at+len(s.tail) <= len(buf) && string(buf[at:at+len(s.tail)]) == s.tail
}

// symbols are the names that were met, of elements or of attributes.
type symbols struct {
	attributes bool
	recent     [256]*symbol
	all        map[string]*symbol
}

// recentAt is where a name is kept among the recent ones.
func recentAt(text []byte) int {
	var word uint64
	if len(text) >= 8 {
		word = binary.LittleEndian.Uint64(text) ^ binary.LittleEndian.Uint64(text[len(text)-8:])<<1
	} else {
		for _, c := range text {
			word = word<<8 | uint64(c)
		}
	}
	return int(word * 0x9E3779B97F4A7C15 >> 56)
}

// symbolAt is the symbol of the name at a place in the buffer, or nil where it
// is no name.
func (r *Reader) symbolAt(known *symbols, start, end int) *symbol {
	text := r.buf[start:end]
	slot := &known.recent[recentAt(text)]
	if s := *slot; s != nil && s.text == string(text) {
		return s
	}
	s := known.all[string(text)]
	if s == nil {
		if s = r.newSymbol(known, start, end); s == nil {
			return nil
		}
		known.all[s.text] = s
	}
	*slot = s
	return s
}

// newSymbol checks a name that was not met before.
func (r *Reader) newSymbol(known *symbols, start, end int) *symbol {
	colon := r.checkName(start, end, true)
	if colon == stopped {
		return nil
	}
	s := &symbol{text: string(r.buf[start:end])}
	s.spelling = s.text
	if known.attributes {
		s.spelling += `="`
	}
	for i := range min(8, len(s.spelling)) {
		s.head |= uint64(s.spelling[i]) << (8 * i)
		s.mask |= 0xff << (8 * i)
	}
	s.tail = s.spelling[min(8, len(s.spelling)):]
	if colon > 0 {
		s.colon = colon + 1
	}
	before := s.text[:max(colon, 0)]
	switch {
	case known.attributes && s.text == "xmlns":
		s.declares = r.prefixOf("")
	case known.attributes && before == "xmlns":
		s.declares = r.prefixOf(s.text[s.colon:])
	case known.attributes && before == "":
		s.name = &Name{Local: s.text}
	default:
		s.prefix = r.prefixOf(before)
	}
	r.knownBytes += len(s.text) + int(symbolBytes)
	return s
}

// checkName checks a name that has only bytes of names, and returns where its
// colon is, behind the start, or 0 (Namespaces 4 [7] QName). A name that may have no
// colon is an NCName.
func (r *Reader) checkName(start, end int, qualified bool) (colon int) {
	if end-start > MaxNameBytes {
		return r.fail(start, "the name %s is longer than %d bytes, the maximum", excerpt(r.buf[start:end]), MaxNameBytes)
	}
	text := r.buf[start:end]
	first := true
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		switch {
		case c == ':' && !qualified:
			return r.fail(start+i, "the name %s must not contain a colon; remove it", excerpt(text))
		case c == ':' && colon > 0:
			return r.fail(start+i, "the name %s has two colons; use one, between the prefix and the rest", excerpt(text))
		case c == ':' && first:
			return r.fail(start+i, "the name %s has no prefix before the colon; add one, or remove the colon", excerpt(text))
		case c == ':':
			colon, first = i, true
			i += n
			continue
		case first && !isNameStart(c):
			return r.fail(start+i, "a name must not start with %s; start it with a letter or _", describe(c))
		case !isNameChar(c):
			return r.fail(start+i, "the name %s must not contain the character %s; remove it", excerpt(text), describe(c))
		}
		first = false
		i += n
	}
	if first {
		return r.fail(start+len(text)-1, "the name %s ends with a colon; add the rest of the name, or remove the colon", excerpt(text))
	}
	return colon
}

// scanName is where the bytes end that can be those of a name.
func scanName(buf []byte, at int) int {
	for classOf[buf[at]]&nameByte != 0 {
		at++
	}
	return at
}
