package find

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

// Document is JSON that is read from front to back.
type Document interface {
	// PeekKind is the kind of what comes next; that of a bracket is itself.
	PeekKind() jsontext.Kind
	// SkipValue passes over the next value.
	SkipValue() error
	// ReadValue reads the next value.
	ReadValue() (jsontext.Value, error)
	// Name reads the name of the next member.
	Name() ([]byte, error)
	// Bracket passes over the next bracket.
	Bracket() error
}

// stream is a document of any length. What is read is validated.
type stream struct{ *jsontext.Decoder }

// Name reads the name of the next member.
func (s stream) Name() ([]byte, error) {
	token, err := s.ReadToken()
	if err != nil {
		return nil, err
	}
	return []byte(token.String()), nil
}

// Bracket passes over the next bracket.
func (s stream) Bracket() error {
	_, err := s.ReadToken()
	return err
}

// Skimmer is a document in memory. What is passed over is not validated, which
// whoever reads the records does: so it costs little to look for the address
// of the next page at the end of a long one.
type Skimmer struct {
	Data []byte
	At   int
	// depth is how many brackets it has gone into.
	depth int
}

var errSkim = errors.New("the document is not JSON")

// PeekKind is the kind of what comes next, after commas and colons.
func (s *Skimmer) PeekKind() jsontext.Kind {
	for ; s.At < len(s.Data); s.At++ {
		switch c := s.Data[s.At]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return '0'
		case '"', '{', '}', '[', ']', 't', 'f', 'n':
			return jsontext.Kind(c)
		default:
			return 0
		}
	}
	return 0
}

// Bracket passes over the next bracket.
func (s *Skimmer) Bracket() error {
	switch s.PeekKind() {
	case '{', '[':
		s.depth++
	case '}', ']':
		s.depth--
	default:
		return errSkim
	}
	s.At++
	return nil
}

// SkipRest passes over what is left of the arrays and objects that it has gone into.
func (s *Skimmer) SkipRest() error {
	if s.depth <= 0 {
		return nil
	}
	depth := s.depth
	s.depth = 0
	return s.skipFrom(depth)
}

// Name reads the name of the next member.
func (s *Skimmer) Name() ([]byte, error) {
	if s.PeekKind() != '"' {
		return nil, errSkim
	}
	raw, err := s.ReadValue()
	if err != nil || bytes.IndexByte(raw, '\\') < 0 && len(raw) >= 2 {
		return bytes.Trim(raw, `"`), err
	}
	return jsontext.AppendUnquote(nil, raw)
}

// ReadValue reads the next value.
func (s *Skimmer) ReadValue() (jsontext.Value, error) {
	kind := s.PeekKind()
	start := s.At
	if err := s.SkipValue(); err != nil {
		return nil, err
	}
	raw := jsontext.Value(s.Data[start:s.At])
	if kind != '"' && !raw.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil, errSkim
	}
	return raw, nil
}

// SkipValue passes over the next value.
func (s *Skimmer) SkipValue() error {
	switch s.PeekKind() {
	case '"':
		return s.skipString()
	case '{', '[':
		return s.skipFrom(0)
	case 't', 'f', 'n', '0':
		for s.At < len(s.Data) && bytes.IndexByte([]byte(",]} \t\r\n:\"[{"), s.Data[s.At]) < 0 {
			s.At++
		}
		return nil
	}
	return errSkim
}

// skipString passes over a string that begins here.
func (s *Skimmer) skipString() error {
	for i := s.At + 1; ; {
		n := bytes.IndexByte(s.Data[i:], '"')
		if n < 0 {
			return io.ErrUnexpectedEOF
		}
		i += n
		escapes := 0
		for s.Data[i-1-escapes] == '\\' {
			escapes++
		}
		i++
		if escapes%2 == 0 {
			s.At = i
			return nil
		}
	}
}

// skipFrom passes over an array or object that begins here, or over the rest of as many as
// the depth says. Where none of eight bytes can be the end, they are looked at together.
func (s *Skimmer) skipFrom(depth int) error {
	data, at := s.Data, s.At
	quoted := false
	for at < len(data) {
		if len(data)-at >= 8 {
			word := binary.LittleEndian.Uint64(data[at:])
			if plain(word) { // as most words are
				quoted = quoted != (bits.OnesCount64(bytesEqual(word, '"'))&1 == 1)
				at += 8
				continue
			}
			inside := insideQuotes(word, quoted)
			opened, closed := brackets(word, inside)
			if closed < depth && bytesEqual(word, '\\') == 0 {
				depth += opened - closed
				quoted = inside>>56 != 0
				at += 8
				continue
			}
		}
		for end := min(at+8, len(data)); at < end; at++ {
			switch c := data[at]; {
			case c == '"':
				quoted = !quoted
			case quoted && c == '\\':
				at++
			case quoted:
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					s.At = at + 1
					return nil
				}
			}
		}
	}
	s.At = len(data)
	return io.ErrUnexpectedEOF
}

// brackets counts those of both kinds that stand in none of the bytes inside.
func brackets(word, inside uint64) (opened, closed int) {
	word |= 0x20 * eachByte // which makes [ and ] the same as { and }
	return bits.OnesCount64(bytesEqual(word, '{') &^ inside), bits.OnesCount64(bytesEqual(word, '}') &^ inside)
}

// plain reports whether there is no bracket and no backslash in a word, for sure: these
// are all at the ends of the two alphabets of ASCII.
func plain(word uint64) bool {
	const low = 0x7f * eachByte
	return ((word|0x20*eachByte)&low+0x05*eachByte)&^word&^low == 0
}

// eachByte has a one in each of its bytes.
const eachByte = 0x0101010101010101

// bytesEqual has a one in each byte that is c in the word.
func bytesEqual(word uint64, c uint64) uint64 {
	const low = 0x7f * eachByte
	x := word ^ c*eachByte
	return ^((x&low + low) | x | low) >> 7
}

// insideQuotes has a one in each byte of the word that stands in quotes, the
// first quote included, where there are no escapes. Quoted says that the word
// begins there.
func insideQuotes(word uint64, quoted bool) uint64 {
	x := bytesEqual(word, '"')
	x ^= x << 8
	x ^= x << 16
	x ^= x << 32
	if quoted {
		x ^= eachByte
	}
	return x
}
