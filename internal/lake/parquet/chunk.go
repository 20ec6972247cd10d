package parquet

import (
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/share"
)

// Encodings, physical types and codecs by their numbers in the format.
const (
	encodingPlain       = 0
	encodingRLE         = 3
	encodingDelta       = 5
	encodingDeltaLength = 6
	encodingDictionary  = 8

	pageData       = 0
	pageDictionary = 2

	codecPlain = 0
	codecZstd  = 6
)

// pageRows is how many rows a page has at most, and pageBytes about how many
// bytes: a reader that needs a few rows takes in whole pages. pageRows is a
// multiple of eight, so that a page begins at a byte of the validity.
const (
	pageRows  = 8_192
	pageBytes = 1 << 20
)

// layout is how the values of a chunk are to be written.
type layout struct {
	encoding int
	// dictionary is the body of the dictionary page, of entries values; nil
	// where there is none.
	dictionary []byte
	entries    int
	// page appends the values from one to another, nulls not counted.
	page func(dst []byte, from, to int) []byte
	// rows is how many rows a page has.
	rows  int
	stats statistics
	// fault says that a value does not fit the type of the column.
	fault error
}

// chunk is a column of a row group as it stands in the file, and what the
// footer says of it. Offsets count from the beginning of the chunk.
type chunk struct {
	encoding       int
	codec          int
	rows           int
	pages          int
	data           int // where the first data page begins
	hasDictionary  bool
	size, unpacked int
	stats          statistics
	crc            uint32 // CRC-32C of its bytes in the file
}

// encoder encodes row groups, one at a time.
type encoder struct {
	scratch scratch
	dict    dictionary
	indexes []uint32
	lengths []int64 // of the texts of a page
	page    []byte
	header  thrift
	zstd    *zstd.Encoder
	// zstdTexts is for texts without a dictionary. Those without repetitions, such as identifiers,
	// shrink by the frequencies of their characters; what is bit-packed does not.
	zstdTexts *zstd.Encoder
	// worked is how many bytes and values were worked on since others had a turn.
	worked int
	long   share.Long
}

// longWork is how many bytes and values are worked on before others have a turn.
const longWork = 16 << 10

// step says that so many bytes or values are worked on next.
func (e *encoder) step(n int) {
	if e.worked += n; e.worked >= longWork {
		e.worked = 0
		e.long.Step()
	}
}

func newEncoder() (*encoder, error) {
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1 << 20), zstd.WithEncoderCRC(false)}
	packed, err := zstd.NewWriter(nil, options...)
	if err != nil {
		return nil, err
	}
	texts, err := zstd.NewWriter(nil, append(options, zstd.WithAllLitEntropyCompression(true))...)
	return &encoder{zstd: packed, zstdTexts: texts}, err
}

// chunk appends column c of the pieces to dst. abandon says that a dictionary
// of texts was found to be of no use.
func (e *encoder) chunk(dst []byte, pieces []piece, c int, column *feedmill.Column, abandon bool) ([]byte, chunk, error) {
	defer e.long.End()
	e.scratch.gather(pieces, c)
	e.step(e.scratch.rows)
	l := e.layout(column, abandon)
	if l.fault != nil {
		return dst, chunk{}, fmt.Errorf("write column %q: %w", column.Name, l.fault)
	}
	l.stats.nulls = e.scratch.rows - e.scratch.count
	out := chunk{encoding: l.encoding, codec: codecZstd, rows: e.scratch.rows, hasDictionary: l.dictionary != nil, stats: l.stats}
	begin := len(dst)
	dst, pays := e.appendPages(dst, &l, &out)
	if !pays {
		out.codec, out.pages, out.unpacked = codecPlain, 0, 0
		dst, _ = e.appendPages(dst[:begin], &l, &out)
	}
	out.crc = crc32.Checksum(dst[begin:], castagnoli)
	return dst, out, nil
}

// minSaved is how much of a chunk compression must save, one part in so many,
// for it to be worth its time and that of every reader. What is bit-packed
// seldom compresses.
const minSaved = 16

// appendPages appends the pages of a chunk. It reports false, with pages
// missing, if the first of them show that compression is of no use.
func (e *encoder) appendPages(dst []byte, l *layout, out *chunk) ([]byte, bool) {
	begin := len(dst)
	if out.hasDictionary {
		dst = e.appendPage(dst, out, l.dictionary, func(t *thrift) {
			t.beginField(7)
			t.i32(1, l.entries)
			t.i32(2, encodingPlain)
			t.end()
		}, pageDictionary)
	}
	out.data = len(dst) - begin
	value := 0
	for row := 0; row < e.scratch.rows; row += l.rows {
		n := min(l.rows, e.scratch.rows-row)
		values := n
		if e.scratch.valid != nil {
			values = countBits(e.scratch.valid, row, row+n)
		}
		e.page = appendLevels(e.page[:0], e.scratch.valid, row, n)
		e.page = l.page(e.page, value, value+values)
		dst = e.appendPage(dst, out, e.page, func(t *thrift) {
			t.beginField(5)
			t.i32(1, n)
			t.i32(2, l.encoding)
			t.i32(3, encodingRLE)
			t.i32(4, encodingRLE)
			t.end()
		}, pageData)
		out.size = len(dst) - begin
		if row == 0 && out.codec == codecZstd && out.unpacked-out.size < out.unpacked/minSaved {
			return dst, false
		}
		out.pages++
		value += values
	}
	return dst, true
}

// layout decides how to write the values that were gathered.
func (e *encoder) layout(column *feedmill.Column, abandon bool) layout {
	switch column.Type {
	case columnar.TypeText, columnar.TypeJSON:
		return e.layoutTexts(column.Type == columnar.TypeText, abandon)
	case columnar.TypeNumber:
		return e.layoutFloats()
	case columnar.TypeBoolean:
		return e.layoutBooleans()
	case columnar.TypeDecimal:
		if column.Precision > columnar.NarrowDigits {
			return e.layoutWide(column.Precision)
		}
		limit := int64(powerOfTen(column.Precision).Lo)
		size := 64
		if physical(column) == physicalInt32 {
			size = 32
		}
		return e.layoutInts(size, 1-limit, limit-1)
	case columnar.TypeDate:
		return e.layoutInts(32, math.MinInt32, math.MaxInt32)
	}
	return e.layoutInts(64, math.MinInt64, math.MaxInt64)
}

// appendPage appends a page: its header, of which special writes the part for
// the kind of page, and the body, compressed if the chunk is.
func (e *encoder) appendPage(dst []byte, out *chunk, body []byte, special func(*thrift), kind int) []byte {
	// The header says how long the body is when compressed, so room is left
	// for a header and what is too much closed up again.
	const room = 64
	at := len(dst)
	dst = append(dst, make([]byte, room)...)
	if len(body) > pageBytes {
		dst = slices.Grow(dst, len(body)+len(body)/256) // else it would grow by copies of itself
	}
	e.step(len(body))
	switch {
	case out.codec != codecZstd:
		dst = append(dst, body...)
	case out.encoding == encodingDeltaLength:
		dst = e.zstdTexts.EncodeAll(body, dst)
	default:
		dst = e.zstd.EncodeAll(body, dst)
	}
	size := len(dst) - at - room

	t := &e.header
	t.buf = t.buf[:0]
	t.begin()
	t.i32(1, kind)
	t.i32(2, len(body))
	t.i32(3, size)
	special(t)
	t.end()
	out.unpacked += len(t.buf) + len(body)

	copy(dst[at:], t.buf)
	copy(dst[at+len(t.buf):], dst[at+room:])
	return dst[:at+len(t.buf)+size]
}
