package typed

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// maxFields is how many fields a schema can have, with those in others.
const maxFields = 4 * input.MaxColumns

// checkMessages goes over the messages of a stream [from, to) and looks at what each says of
// itself, before anything is made of that: arrow-go believes in counts. It ends where the
// stream does.
func checkMessages(data input.Source, from, to int64) error {
	head := make([]byte, 8)
	for from+8 <= to {
		if err := input.ReadFull(data, head, from); err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if string(head[:4]) != continuation {
			return damaged("arrow", fmt.Sprintf("no message begins at byte %d", from))
		}
		if size == 0 {
			return nil
		}
		body, err := checkMessage(data, from+8, size)
		if err != nil {
			return err
		}
		from += 8 + size + body
	}
	return nil
}

// checkMessage looks at what a message says of itself, and returns how long its body is.
func checkMessage(data input.Source, at, size int64) (body int64, err error) {
	text, err := readMetadata(data, at, size)
	if err != nil {
		return 0, err
	}
	message := flat(text).root()
	header := message.table(2)
	switch kind := message.byte(1); kind {
	case 1:
		checkSchema(header)
	case 2:
		checkBatch(header.table(1))
	case 3:
		checkBatch(header)
	default:
		return 0, damaged("arrow", fmt.Sprintf("the message at byte %d is of the kind %d", at, kind))
	}
	body = message.long(3)
	if message.of.fault != nil {
		return 0, damaged("arrow", fmt.Sprintf("the message at byte %d: %v", at, message.of.fault))
	}
	if body < 0 || body > data.Size()-at-size {
		return 0, input.Refuse("truncated-data", "the Arrow data ends too early: the message at byte %d has a body of %d bytes", at, body)
	}
	return body, nil
}

// checkArrowFooter looks at the footer of a file, and at the messages that it names.
func checkArrowFooter(data input.Source) error {
	const ending = 4 + 6 // the length of the footer, and the mark again
	tail := make([]byte, ending)
	if data.Size() < int64(len(arrowMark))+ending {
		return input.Refuse("truncated-data", "the Arrow file ends too early, after %d bytes", data.Size())
	}
	if err := input.ReadFull(data, tail, data.Size()-ending); err != nil {
		return err
	}
	if string(tail[4:]) != arrowMark[:6] {
		return input.Refuse("truncated-data", "the Arrow file has no footer: it ends too early, after %d bytes", data.Size())
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	text, err := readMetadata(data, data.Size()-ending-size, size)
	if err != nil {
		return err
	}
	footer := flat(text).root()
	checkSchema(footer.table(1))
	for _, name := range []int{2, 3} {
		blocks := footer.vector(name, 24)
		for i := range blocks.n {
			at, size := blocks.word(i, 24, 0), int64(uint32(blocks.word(i, 24, 8)))
			if at < 0 || at > data.Size()-8 || size < 8 {
				return damaged("arrow", fmt.Sprintf("a block begins at byte %d", at))
			}
			if _, err := checkMessage(data, at+8, size-8); err != nil {
				return err
			}
		}
	}
	if footer.of.fault != nil {
		return damaged("arrow", "its footer: "+footer.of.fault.Error())
	}
	return nil
}

func readMetadata(data input.Source, at, size int64) ([]byte, error) {
	if at < 0 || size > maxMetadata || size > data.Size()-at {
		return nil, input.Refuse("invalid-arrow", "what the Arrow data says of itself at byte %d has %d bytes, which is more than there is, or than is read (%d)", at, size, maxMetadata)
	}
	text := make([]byte, size)
	return text, input.ReadFull(data, text, at)
}

// checkSchema goes over the fields of a schema, and over those in them.
func checkSchema(schema flatTable) {
	fields := 0
	var check func(t flatTable, vector, depth int)
	check = func(t flatTable, vector, depth int) {
		children := t.vector(vector, 4)
		for i := range children.n {
			if fields++; fields > maxFields || depth > maxDepth {
				t.of.fail(errSchema)
			}
			if t.of.fault != nil {
				return
			}
			field := children.table(i)
			if field.byte(2) == typeUnion {
				field.table(3).vector(1, 4)
			}
			field.vector(6, 4)
			check(field, 5, depth+1)
		}
	}
	schema.vector(2, 4)
	check(schema, 1, 0)
}

// typeUnion is the only type that has a list.
const typeUnion = 14

func checkBatch(batch flatTable) {
	batch.vector(1, 16)
	batch.vector(2, 16)
	batch.vector(4, 8)
}

// flatText is a text in the format of FlatBuffers, up to the first fault.
type flatText struct {
	text  []byte
	fault error
}

func flat(text []byte) *flatText { return &flatText{text: text} }

var errFlat = errors.New("a place or a count is outside of it")

func (f *flatText) fail(err error) {
	if f.fault == nil {
		f.fault = err
	}
}

// word reads so many bytes as a number; it is 0 where they are not there.
func (f *flatText) word(at, bytes int) (n uint64) {
	if at < 0 || at > len(f.text)-bytes {
		f.fail(errFlat)
		return 0
	}
	for i := bytes - 1; i >= 0; i-- {
		n = n<<8 | uint64(f.text[at+i])
	}
	return n
}

func (f *flatText) root() flatTable { return flatTable{f, int(f.word(0, 4))} }

// flatTable is a table, of which 0 is none.
type flatTable struct {
	of *flatText
	at int
}

// field is where a field of a table is, or 0.
func (t flatTable) field(i int) int {
	if t.at == 0 {
		return 0
	}
	fields := t.at - int(int32(t.of.word(t.at, 4)))
	if size := int(t.of.word(fields, 2)); 4+2*i+2 > size {
		return 0
	}
	if offset := int(t.of.word(fields+4+2*i, 2)); offset > 0 {
		return t.at + offset
	}
	return 0
}

func (t flatTable) byte(i int) byte {
	if at := t.field(i); at > 0 {
		return byte(t.of.word(at, 1))
	}
	return 0
}

func (t flatTable) long(i int) int64 {
	if at := t.field(i); at > 0 {
		return int64(t.of.word(at, 8))
	}
	return 0
}

func (t flatTable) table(i int) flatTable {
	if at := t.field(i); at > 0 {
		return flatTable{t.of, at + int(t.of.word(at, 4))}
	}
	return flatTable{t.of, 0}
}

// vector is the list of a field, whose elements have so many bytes.
func (t flatTable) vector(i, bytes int) flatVector {
	at := t.field(i)
	if at == 0 {
		return flatVector{of: t.of}
	}
	at += int(t.of.word(at, 4))
	n := int(t.of.word(at, 4))
	if n > (len(t.of.text)-at)/bytes {
		t.of.fail(errFlat)
		n = 0
	}
	return flatVector{t.of, at + 4, n}
}

type flatVector struct {
	of *flatText
	at int
	n  int
}

func (v flatVector) table(i int) flatTable {
	at := v.at + 4*i
	return flatTable{v.of, at + int(v.of.word(at, 4))}
}

// word is the number of 8 bytes at a place in an element.
func (v flatVector) word(i, bytes, at int) int64 { return int64(v.of.word(v.at+bytes*i+at, 8)) }
