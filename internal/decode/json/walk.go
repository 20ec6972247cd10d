package json

import (
	"fmt"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// source is data and how it is read.
type source struct {
	src   input.Source
	start int64 // behind the byte order mark
	// blockBytes is about how much data one goroutine decodes in one go, and
	// readBytes how much is read at once of a document.
	blockBytes, readBytes int
	limits                *limits
}

// walker goes through a document of any size from front to back, and reads
// no more of it into memory than it needs. [walker.next] says what comes;
// for a value the caller goes into it with enter, reads it with scalar, or
// passes over it with skip.
type walker struct {
	lexer
	source
	// i is where the walker is in the data.
	i      int
	frames []walkFrame
	// begun says that the first value was found, and sequence that others may
	// follow it outside of everything where all of them are objects.
	begun, sequence bool
	// name is that of the value that comes, where it is a member of an object.
	name []byte
	// phase is how far the walk is between two values.
	phase walkPhase
	// pinned says that the data before i is needed. Where the next token is not
	// before pinnedLimit, the walk stops with walkFull.
	pinned      bool
	pinnedLimit int
	full        bool
	// interrupted, where it is there, is asked before each read whether to stop.
	interrupted func() error
	// large, where it is there, is called before much is held.
	large func() error
	err   error
}

type walkFrame struct {
	object bool
	// count is how many values have come.
	count int64
}

type walkEvent uint8

const (
	walkFault walkEvent = iota // fault or err says why
	walkFull                   // next has to be called again, without what is pinned
	walkValue                  // a value begins
	walkClose                  // an array or object has ended
	walkEnd                    // so has the document
)

func newWalker(in source) *walker {
	return &walker{source: in, lexer: lexer{base: in.start, data: make([]byte, textPadding), maxField: in.limits.field}}
}

// complete reports whether all of the source is in the data.
func (w *walker) complete() bool { return w.base+int64(w.size) >= w.src.Size() }

// fill reads more of the source, up to the given number of bytes. Unless it is
// pinned, what stands before keep is dropped; shift is by how much everything
// moved.
func (w *walker) fill(keep, want int) (shift int, ok bool) {
	if !w.pinned && keep > 0 {
		copy(w.data, w.data[keep:w.size])
		w.base += int64(keep)
		w.size -= keep
		w.i -= keep
		shift = keep
	}
	if w.interrupted != nil {
		if w.err = w.interrupted(); w.err != nil {
			return shift, false
		}
	}
	more := int(min(int64(want), w.src.Size()-w.base-int64(w.size)))
	if w.large != nil && w.size > input.LargeBytes {
		if w.err = w.large(); w.err != nil {
			return shift, false
		}
	}
	if need := w.size + more + textPadding; cap(w.data) < need {
		grown := make([]byte, need+need/4)
		copy(grown, w.data[:w.size])
		w.data = grown
	}
	w.data = w.data[:w.size+more+textPadding]
	if err := input.ReadFull(w.src, w.data[w.size:w.size+more], w.base+int64(w.size)); err != nil {
		w.err = fmt.Errorf("read JSON: %w", err)
		return shift, false
	}
	w.size += more
	clear(w.data[w.size:])
	return shift, true
}

// blanks skips to the next token, whose first character is all there then.
func (w *walker) blanks() bool {
	for {
		w.i = w.space(w.i)
		if w.pinned && w.i >= w.pinnedLimit {
			w.full = true
			return false
		}
		if w.i+utf8.UTFMax <= w.size || w.complete() {
			return true
		}
		if _, ok := w.fill(w.i, w.readBytes); !ok {
			return false
		}
	}
}

// token applies a method that reads a token at i, with more data where it is
// not all there, and returns where the token ends.
func (w *walker) token(read func(i int) int) int {
	for {
		end := read(w.i)
		atEnd := end >= w.size || w.fault != nil && w.fault.offset >= w.base+int64(w.size)-8
		if !atEnd || w.complete() {
			return end
		}
		if w.size-w.i > w.limits.record {
			return w.fail(w.i, "the value is longer than %d bytes, the maximum", w.limits.record)
		}
		w.fault = nil
		// Reading as much again as is there keeps the work linear, because the
		// token is looked at from its start again.
		if _, ok := w.fill(w.i, max(w.readBytes, w.size-w.i)); !ok {
			return -1
		}
	}
}

// text reads a string, with its quotes, whose escapes are right.
func (w *walker) text(i int) int {
	end, escaped := w.quoted(i + 1)
	if end < 0 || escaped && !w.checkEscapes(i+1, end) {
		return -1
	}
	return end + 1
}

// walkPhase is how far the walk is between two values: what comes after the
// blanks that come.
type walkPhase uint8

const (
	beforeSeparator walkPhase = iota
	beforeMember
	beforeColon
	beforeValue
)

// next goes to the next event.
func (w *walker) next() walkEvent {
	for {
		if !w.blanks() {
			return w.stopped()
		}
		top := len(w.frames) - 1
		if top < 0 {
			return w.outside()
		}
		frame := &w.frames[top]
		switch w.phase {
		case beforeSeparator:
			if c := w.data[w.i]; frame.object && c == '}' || !frame.object && c == ']' {
				w.frames = w.frames[:top]
				w.i++
				return walkClose
			}
			if frame.count > 0 {
				if w.data[w.i] != ',' {
					w.failExpected(w.i, frame.separators())
					return walkFault
				}
				w.i++
			}
			w.phase = beforeValue
			if frame.object {
				w.phase = beforeMember
			}
		case beforeMember:
			if !w.member() {
				return walkFault
			}
			w.phase = beforeColon
		case beforeColon:
			if w.data[w.i] != ':' {
				w.failExpected(w.i, "a colon after the name")
				return walkFault
			}
			w.i++
			w.phase = beforeValue
		case beforeValue:
			frame.count++
			w.phase = beforeSeparator
			return w.begins()
		}
	}
}

// stopped is the event where blanks were not skipped to their end.
func (w *walker) stopped() walkEvent {
	if w.full {
		return walkFull
	}
	return walkFault
}

func (f *walkFrame) separators() string {
	if f.object {
		return "a comma or } after a member"
	}
	return "a comma or ] after an element"
}

// outside is what comes where no array or object is open.
func (w *walker) outside() walkEvent {
	switch {
	case !w.begun:
		w.begun = true
		w.sequence = w.sequence && w.data[w.i] == '{'
		return w.begins()
	case w.i >= w.size:
		return walkEnd
	case w.sequence && w.data[w.i] == '{':
		return walkValue
	}
	w.fail(w.i, "unexpected data after the value; set format=ndjson if the data has one value per line")
	return walkFault
}

// begins checks that a value can begin here.
func (w *walker) begins() walkEvent {
	switch w.data[w.i] {
	case ',', ':', ']', '}', 0:
		w.failExpected(w.i, "a value")
		return walkFault
	}
	return walkValue
}

// member reads a name.
func (w *walker) member() bool {
	if w.data[w.i] != '"' {
		w.failExpected(w.i, "a name in double quotes")
		return false
	}
	end := w.token(w.text)
	if end < 0 {
		return false
	}
	if end-w.i-2 > maxWayName {
		w.fail(w.i, "the name is longer than %d bytes, the maximum", maxWayName)
		return false
	}
	w.name = w.unescape(w.name[:0], w.i+1, end-1)
	w.i = end
	return true
}

// enter goes into the array or object that begins here.
func (w *walker) enter() bool {
	if len(w.frames) >= maxDepth {
		w.fail(w.i, "arrays and objects are nested more than %d levels deep", maxDepth)
		return false
	}
	w.frames = append(w.frames, walkFrame{object: w.data[w.i] == '{'})
	w.i++
	return true
}

// scalar reads the string, number or word that begins here.
func (w *walker) scalar() bool {
	read := w.word
	switch c := w.data[w.i]; {
	case c == '"':
		read = w.text
	case c == '-' || c >= '0' && c <= '9':
		read = w.number
	}
	end := w.token(read)
	if end < 0 {
		return false
	}
	w.i = end
	return true
}

// container reports whether an array or object begins here.
func (w *walker) container() bool {
	return w.data[w.i] == '{' || w.data[w.i] == '['
}
