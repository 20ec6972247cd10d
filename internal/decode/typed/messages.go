package typed

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// maxFields is how many fields a schema can have, with those in others.
const maxFields = 4 * input.MaxColumns

// checkMessages goes over the messages of a stream [from, to) and looks at what each says of
// itself, before anything is made of that: arrow-go believes in counts. It ends where the
// stream does.
func checkMessages(data input.Source, from, to int64) error {
	messages := newMessageCheck(data)
	head := make([]byte, 8)
	for from+8 <= to {
		if err := input.ReadFull(data, head, from); err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if string(head[:4]) != continuation {
			return damaged("arrow", fmt.Sprintf("no message starts at byte %d", from))
		}
		if size == 0 {
			return nil
		}
		body, err := messages.check(from+8, size)
		if err != nil {
			return err
		}
		from += 8 + size + body
	}
	return nil
}

// messageCheck looks at messages. Room is what undoing buffers can take beyond what they need.
type messageCheck struct {
	data input.Source
	room int64
}

func newMessageCheck(data input.Source) *messageCheck {
	return &messageCheck{data, leastBuffers + buffersOfByte*data.Size()}
}

// check looks at what a message says of itself, and returns how long its body is.
func (c *messageCheck) check(at, size int64) (body int64, err error) {
	data := c.data
	text, err := readMetadata(data, at, size)
	if err != nil {
		return 0, err
	}
	message := flat(text).root()
	header := message.table(2)
	message.pairs(4)
	batch := flatTable{of: message.of}
	switch kind := message.byte(1); kind {
	case 1:
		checkSchema(header)
	case 2:
		batch = header.table(1)
	case 3:
		batch = header
	default:
		return 0, damaged("arrow", fmt.Sprintf("the message at byte %d has the unsupported kind %d", at, kind))
	}
	checkBatch(batch)
	body = message.long(3)
	if message.of.fault != nil {
		return 0, damaged("arrow", fmt.Sprintf("the message at byte %d: %v", at, message.of.fault))
	}
	if body < 0 || body > data.Size()-at-size {
		return 0, input.Refuse("truncated-data", "the Arrow data is truncated; the message at byte %d has a body of %d bytes", at, body)
	}
	if how := batch.table(3); how.at != 0 {
		excess, err := (&compressedBuffers{data: data, at: at + size, size: body, zstd: how.byte(0) == codecZstd}).check(batch.vector(2, 16))
		if err != nil {
			return 0, err
		}
		if c.room -= excess / 4; c.room < 0 {
			return 0, damaged("arrow", "decompressing its many small batches requires too much memory; compress them with a lower level, or write larger batches")
		}
	}
	return body, nil
}

// checkArrowFooter looks at the footer of a file, and at the messages that it names.
func checkArrowFooter(data input.Source) error {
	const ending = 4 + 6 // the length of the footer, and the mark again
	tail := make([]byte, ending)
	if data.Size() < int64(len(arrowMark))+ending {
		return input.Refuse("truncated-data", "the Arrow file is truncated after %d bytes", data.Size())
	}
	if err := input.ReadFull(data, tail, data.Size()-ending); err != nil {
		return err
	}
	if string(tail[4:]) != arrowMark[:6] {
		return input.Refuse("truncated-data", "the Arrow file has no footer; it is truncated after %d bytes", data.Size())
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	text, err := readMetadata(data, data.Size()-ending-size, size)
	if err != nil {
		return err
	}
	footer := flat(text).root()
	checkSchema(footer.table(1))
	footer.pairs(4)
	messages := newMessageCheck(data)
	var spans []span
	for _, name := range []int{2, 3} {
		blocks := footer.vector(name, 24)
		for i := range blocks.n {
			at, size := blocks.word(i, 24, 0), int64(uint32(blocks.word(i, 24, 8)))
			if at < 0 || at > data.Size()-8 || size < 8 {
				return damaged("arrow", fmt.Sprintf("the block offset %d is out of range", at))
			}
			body, err := messages.check(at+8, size-8)
			if err != nil {
				return err
			}
			spans = append(spans, span{at, at + size + body})
		}
	}
	if footer.of.fault != nil {
		return damaged("arrow", "its footer: "+footer.of.fault.Error())
	}
	return checkApart(spans)
}

type span struct{ from, to int64 }

// checkApart refuses blocks that share bytes: a footer that names one block a thousand times would make
// a thousand batches of it.
func checkApart(spans []span) error {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := range spans[:max(len(spans)-1, 0)] {
		if spans[i].to > spans[i+1].from {
			return damaged("arrow", fmt.Sprintf("two blocks overlap from byte %d", spans[i+1].from))
		}
	}
	return nil
}

func readMetadata(data input.Source, at, size int64) ([]byte, error) {
	if at < 0 || size > maxMetadata || size > data.Size()-at {
		return nil, input.Refuse("invalid-arrow", "the Arrow metadata at byte %d has %d bytes, which is longer than the data or than the maximum of %d", at, size, maxMetadata)
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
			field.text(0)
			switch field.byte(2) {
			case typeUnion:
				t.of.spend(4 * field.table(3).vector(1, 4).n)
			case typeTimestamp:
				field.table(3).text(1)
			}
			field.pairs(6)
			check(field, 5, depth+1)
		}
	}
	schema.pairs(2)
	check(schema, 1, 0)
}

// The types that have more than numbers to say of themselves: a list, and a zone.
const (
	typeTimestamp = 10
	typeUnion     = 14
)

func checkBatch(batch flatTable) {
	batch.vector(1, 16)
	buffers := batch.vector(2, 16)
	// A column of views has as many buffers as it says here, and room is made for them.
	views := batch.vector(4, 8)
	for i := range views.n {
		if n := views.word(i, 8, 0); n < 0 || n > int64(buffers.n) {
			batch.of.fail(errFlat)
		}
	}
	batch.of.spend(8 * views.n)
}
