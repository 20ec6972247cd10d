package xml

import "io"

// Kind is what [Reader.Next] has come to.
type Kind uint8

// The kinds of what a document consists of. Comments and processing instructions are
// checked and passed over.
const (
	// None is before the first call of Next, and at the end.
	None Kind = iota
	// StartElement has a Name and Attributes. An empty element <a/> has a start
	// and an end too.
	StartElement
	// EndElement has the Name of the element.
	EndElement
	// Text has the Text, with references and CDATA sections undone. The text
	// between two tags may come in several pieces.
	Text

	// again is that something was passed over and there is no token yet.
	again
)

// Reader reads a document.
type Reader struct {
	buffer
	scope

	// DropBlank passes over text that is nothing but white space, up to 64 KiB of it,
	// except where it is all that stands between a start tag and an end tag.
	DropBlank bool
	// AnyEncoding says that the declaration of an encoding does not count, because
	// the document was made UTF-8 before.
	AnyEncoding bool

	declared Declaration
	doctype  bool

	// i is where the next token begins, and start where the one did that is
	// current.
	i, start int
	kind     Kind
	// phase is where in the document the reader is, and plain says that it is
	// where nothing has to be looked after but the next character.
	phase phase
	plain bool
	err   error

	stack []element
	name  *Name
	attrs []Attribute
	text  []byte

	// tag is the number of the start tag, and expected where the symbol stands of the
	// element that should begin next, if all goes on as it did before; it is that of
	// the root at first.
	tag      uint64
	expected **symbol
	root     *symbol
	// prefixed are the attributes of the tag that have a prefix, and declarations those
	// that declare namespaces.
	prefixed     []prefixedAttribute
	declarations []declaration
	passage      passageStart
	// scratch has values and text that are not as they stand in the document.
	scratch []byte
}

// element is one that is open.
type element struct {
	symbol *symbol
	name   *Name
	// bound is how many declarations held around it.
	bound int
	// offset is where it begins in the document.
	offset int64
}

// phase is where in the document the reader is.
type phase uint8

const (
	inProlog phase = iota // before the root element
	inContent
	inEmpty // behind an empty element, whose end has not been told
	inCDATA
	inEpilog // behind the root element
)

// NewReader returns a reader of a document in UTF-8, with or without a byte order
// mark.
func NewReader(src io.Reader) *Reader {
	r := new(Reader)
	r.Reset(src)
	return r
}

// Reset makes the reader begin with another document. It keeps its memory, its
// settings and the names that it knows.
func (r *Reader) Reset(src io.Reader) {
	*r = Reader{
		buffer: r.buffer, scope: r.scope, DropBlank: r.DropBlank, AnyEncoding: r.AnyEncoding,
		tag: r.tag, root: r.root, stack: r.stack[:0], attrs: r.attrs[:0], scratch: r.scratch[:0],
		prefixed: r.prefixed[:0], declarations: r.declarations[:0], passage: passageStart{ended: r.passage.ended[:0]},
	}
	r.expected = &r.root
	r.buffer.reset(src)
	if r.none == nil {
		r.scope.reset()
	}
	r.release(0)
}

// Next goes on to what comes next in the document. At its end the error is
// [io.EOF]. After an error there is nothing more.
func (r *Reader) Next() (Kind, error) {
	for {
		if r.plain {
			switch buf, i := r.buf, r.i; {
			case buf[i] != '<':
				if kind, err := r.readText(); kind != again {
					return kind, err
				}
				continue
			case buf[i+1] == '/':
				return r.readEnd()
			case classOf[buf[i+1]]&nameStartByte != 0:
				return r.readStart()
			}
		}
		if kind, err := r.readOther(); kind != again {
			return kind, err
		}
	}
}

// readOther reads what is not usual.
func (r *Reader) readOther() (Kind, error) {
	if r.err != nil {
		return None, r.err
	}
	switch r.phase {
	case inProlog:
		return r.readProlog()
	case inEmpty:
		r.phase, r.plain = inContent, true
		return r.pop(r.i), nil
	case inCDATA:
		return r.readCDATA()
	case inEpilog:
		return r.readEpilog()
	}
	if r.i >= r.size {
		if !r.fill(r.i) {
			return r.fault(r.endsInElement())
		}
		r.i = 0
		return again, nil
	}
	return r.readMarkup()
}

// fault ends the reading.
func (r *Reader) fault(int) (Kind, error) {
	r.kind, r.plain = None, false
	r.attrs, r.text, r.name = r.attrs[:0], nil, nil
	return None, r.err
}

// endsEarly is the fault that the document ends in the middle of something, unless
// what was read last has an end of its own.
func (r *Reader) endsEarly(format string, args ...any) int {
	if r.ending != nil {
		r.err = r.ending
		return stopped
	}
	return r.fail(r.size, format, args...)
}

func (r *Reader) endsInElement() int {
	open := r.stack[len(r.stack)-1]
	return r.endsEarly("the document ends before <%s> (byte %d) is closed; is it truncated?", excerpt(open.symbol.text), open.offset)
}

// Name is the name of the element that starts or ends.
func (r *Reader) Name() *Name { return r.name }

// Attribute is an attribute of an element.
type Attribute struct {
	Name *Name
	// Value is the value with references undone and white space normalized.
	Value []byte
}

// Attributes are those of the element that starts, in the order of the document and
// without the declarations of namespaces. They are there until the next call of Next.
func (r *Reader) Attributes() []Attribute { return r.attrs }

// Text is the text of the token. It is there until the next call of Next.
func (r *Reader) Text() []byte { return r.text }

// Depth is how many elements are open. One that starts is, and one that ends is
// not any more.
func (r *Reader) Depth() int { return len(r.stack) }

// Offset is where in the document the token begins.
func (r *Reader) Offset() int64 { return r.offsetOf(r.start) }

// Fault is a fault of the document at the place where the token begins, for
// what a caller finds wrong.
func (r *Reader) Fault(detail string) *Fault { return r.faultAt(r.start, detail) }

// Skip passes over the rest of the element that has started last, and its end.
func (r *Reader) Skip() error {
	for depth := len(r.stack); len(r.stack) >= depth; {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
	return nil
}
