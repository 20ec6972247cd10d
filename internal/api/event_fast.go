package api

import (
	"bytes"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/jstext"
)

// Publishing is what the service does most, so the body of a good request is
// read on a path of its own. It builds nothing but the events, and where
// anything is unusual it gives up: [call.readEvents] then reads the body again
// and says what is wrong, or that nothing is.

// scratch holds texts that are written to be checked and for nothing else.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// isStrictJSON reports whether a text is one JSON value without duplicate keys,
// lone surrogates and the like, nested no deeper than a body may be.
func isStrictJSON(text []byte) bool {
	buffer := scratch.Get().(*[]byte)
	written, err := jstext.Append((*buffer)[:0], text)
	if err == nil {
		*buffer = written
	}
	if cap(*buffer) <= 64<<10 {
		scratch.Put(buffer)
	}
	return err == nil
}

// fastEvents reads one plain event or an array of them. The data of the events
// are parts of body. typeName gives back the name of a type that it knows.
func fastEvents(body []byte, typeName func([]byte) (string, bool)) (events []feedmill.NewEvent, one, ok bool) {
	if !isStrictJSON(body) {
		return nil, false, false
	}
	s := eventScanner{text: body, typeName: typeName}
	if s.space(); s.text[s.pos] == '{' {
		events = make([]feedmill.NewEvent, 1)
		return events, true, s.event(&events[0])
	}
	if s.text[s.pos] != '[' {
		return nil, false, false
	}
	for s.pos++; ; s.pos++ {
		if s.space(); s.text[s.pos] != '{' || len(events) == feedmill.MaxPublishEvents {
			return nil, false, false
		}
		events = append(events, feedmill.NewEvent{})
		if !s.event(&events[len(events)-1]) {
			return nil, false, false
		}
		if s.space(); s.text[s.pos] == ']' {
			return events, false, true
		}
	}
}

// eventScanner walks through a text that is known to be JSON.
type eventScanner struct {
	text     []byte
	pos      int
	typeName func([]byte) (string, bool)
}

// space skips white space.
func (s *eventScanner) space() {
	for s.text[s.pos] <= ' ' {
		s.pos++
	}
}

// event reads the object at pos and leaves pos behind it.
func (s *eventScanner) event(e *feedmill.NewEvent) bool {
	begin := s.pos
	s.pos++
	if s.space(); s.text[s.pos] == '}' {
		return false
	}
	for {
		s.space()
		key := s.skip()
		s.space()
		s.pos++ // the colon
		s.space()
		if !s.set(e, key, s.skip()) {
			return false
		}
		if s.space(); s.text[s.pos] == '}' {
			break
		}
		s.pos++
	}
	s.pos++
	return e.Type != "" && s.pos-begin <= feedmill.MaxEventBytes
}

// set puts the value under a key into the event.
func (s *eventScanner) set(e *feedmill.NewEvent, key, raw []byte) bool {
	switch string(key) {
	case `"id"`:
		text, ok := plainText(raw, feedmill.MaxPublisherIDLen)
		if ok {
			e.DedupeKey = dedupeID + string(text)
			e.PublisherID = e.DedupeKey[len(dedupeID):]
		}
		return ok
	case `"type"`:
		text, ok := plainText(raw, feedmill.MaxEventNameLen)
		if !ok {
			return false
		}
		e.Type, ok = s.typeName(text)
		return ok
	case `"timestamp"`:
		text, ok := plainText(raw, len(raw))
		if ok {
			e.Timestamp, ok = parseTime(string(text))
		}
		return ok
	case `"resourceId"`:
		text, ok := plainText(raw, feedmill.MaxResourceIDLen)
		e.ResourceID = string(text)
		return ok
	case `"data"`:
		e.Data = raw
		return true
	}
	return false
}

// plainText is the text of a string that has 1 to most bytes, all of them
// printable ASCII that stands for itself.
func plainText(raw []byte, most int) ([]byte, bool) {
	if raw[0] != '"' || len(raw) == 2 || len(raw)-2 > most {
		return nil, false
	}
	text := raw[1 : len(raw)-1]
	for _, c := range text {
		if c == '\\' || c > '~' {
			return nil, false
		}
	}
	return text, true
}

// skip returns the value at pos and leaves pos behind it.
func (s *eventScanner) skip() []byte {
	begin := s.pos
	for depth := 0; ; {
		switch s.text[s.pos] {
		case '"':
			s.pos = closingQuote(s.text, s.pos)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				break
			}
			for s.pos < len(s.text) && !bytes.ContainsRune(endOfScalar, rune(s.text[s.pos])) {
				s.pos++
			}
			return s.text[begin:s.pos]
		}
		if s.pos++; depth == 0 {
			return s.text[begin:s.pos]
		}
	}
}

// closingQuote is where the string ends that begins at a quote: at the next one
// that has no backslash of its own.
func closingQuote(text []byte, quote int) int {
	for {
		quote += 1 + bytes.IndexByte(text[quote+1:], '"')
		slash := quote - 1
		for text[slash] == '\\' {
			slash--
		}
		if (quote-slash)%2 == 1 {
			return quote
		}
	}
}

// endOfScalar are the bytes that end a number or a literal.
var endOfScalar = []byte(" \t\r\n,]}")
