package worker

import (
	"bufio"
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// batchRows is how many rows a batch of the Arrow stream has, and batchBytes about
// how many bytes where rows are long. A batch ends after a multiple of batchStep rows, or
// before a row with which it would have more than mostBatchBytes of text,
// however DuckDB's chunks are cut, so that the same rows are the same bytes.
const (
	batchRows      = 32_768
	batchBytes     = 16 << 20
	mostBatchBytes = 20 << 20
	batchStep      = 2_048
)

// arrowRows writes rows as a stream of Arrow batches. It gathers several of
// DuckDB's chunks in one batch.
type arrowRows struct {
	columns []*column
	schema  *arrow.Schema
	rows    int
	// texts is how many bytes of text the batch has.
	texts  int
	values []arrowValues
	out    *bufio.Writer
	stream *ipc.Writer
}

// arrowValues are the buffers of one column of the batch that is being filled.
type arrowValues struct {
	width   int // bytes of a value; zero for booleans and text
	valid   []byte
	nulls   int
	data    []byte
	offsets []int32
	// own says that data is that of a row which was read apart.
	own bool
}

func newArrow(names []string, columns []*column, out *sender) *arrowRows {
	w := &arrowRows{columns: columns, values: make([]arrowValues, len(columns)), out: bufio.NewWriterSize(out, frameBytes)}
	var fields []arrow.Field
	for i, c := range columns {
		kind, width := arrowType(c)
		w.values[i].width = width
		field := arrow.Field{Name: names[i], Type: kind, Nullable: true}
		if c.json {
			field.Metadata = arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"arrow.json"})
		}
		fields = append(fields, field)
	}
	w.schema = arrow.NewSchema(fields, nil)
	w.stream = ipc.NewWriter(w.out, ipc.WithSchema(w.schema))
	return w
}

// arrowType is the type of a column in Arrow, and how many bytes a value has.
func arrowType(c *column) (arrow.DataType, int) {
	switch c.kind {
	case kindBoolean:
		return arrow.FixedWidthTypes.Boolean, 0
	case kindText:
		return arrow.BinaryTypes.String, 0
	case kindDate:
		return arrow.FixedWidthTypes.Date32, 4
	case kindTimestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, 8
	case kindFloat:
		return arrow.PrimitiveTypes.Float32, 4
	case kindDouble:
		return arrow.PrimitiveTypes.Float64, 8
	case kindUint64:
		return arrow.PrimitiveTypes.Uint64, 8
	}
	if c.width > 0 || c.kind == kindInt128 {
		precision := c.width
		if precision == 0 {
			precision = 38
		}
		return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(c.scale)}, 16
	}
	return arrow.PrimitiveTypes.Int64, 8
}

func (w *arrowRows) begin(dst []byte) []byte { return dst }

func (w *arrowRows) append(dst []byte, n int) ([]byte, error) {
	for from := 0; from < n; {
		to := min(n, from+batchStep-w.rows%batchStep)
		texts := w.textBytes(from, to)
		if w.texts+texts > mostBatchBytes {
			to, texts = w.fitting(from, to)
		}
		size := 0
		for i, c := range w.columns {
			w.values[i].add(c, w.rows, from, to)
			size += len(w.values[i].data)
		}
		w.rows += to - from
		w.texts += texts
		full := to == from || w.texts > mostBatchBytes // the next row does not fit
		from = to
		if full || w.rows == batchRows || size >= batchBytes && w.rows%batchStep == 0 {
			if err := w.write(); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// textBytes is how many bytes of text some rows of the chunk have.
func (w *arrowRows) textBytes(from, to int) (size int) {
	for _, c := range w.columns {
		if c.kind == kindText {
			size += c.textBytes(from, to)
		}
	}
	return size
}

// fitting is up to which row the batch has room, and how many bytes of text they have. A
// batch without rows has room for one.
func (w *arrowRows) fitting(from, to int) (end, texts int) {
	for end = from; end < to; end++ {
		row := w.textBytes(end, end+1)
		if w.texts+texts+row > mostBatchBytes && w.rows+end-from > 0 {
			break
		}
		texts += row
	}
	return end, texts
}

func (w *arrowRows) end(dst []byte) ([]byte, error) {
	if w.rows > 0 {
		if err := w.write(); err != nil {
			return dst, err
		}
	}
	if err := w.stream.Close(); err != nil {
		return dst, fmt.Errorf("write arrow: %w", err)
	}
	return dst, w.out.Flush()
}

func (w *arrowRows) write() error {
	arrays := make([]arrow.Array, len(w.columns))
	for i := range w.values {
		data := w.values[i].drain(w.schema.Field(i).Type, w.rows)
		arrays[i] = array.MakeFromData(data)
	}
	batch := array.NewRecordBatch(w.schema, arrays, int64(w.rows))
	w.rows, w.texts = 0, 0
	if err := w.stream.Write(batch); err != nil {
		return fmt.Errorf("write arrow: %w", err)
	}
	return nil
}

// add appends the values [from, to) of a column to a batch that has so many rows.
func (v *arrowValues) add(c *column, rows, from, to int) {
	v.addValidity(c, rows, from, to)
	switch {
	case c.kind == kindText:
		v.addTexts(c, from, to)
	case c.kind == kindBoolean:
		for i := from; i < to; i++ {
			v.data = setBit(v.data, rows+i-from, !c.null(i) && at[bool](&c.cells, i))
		}
	case v.width == size(c.kind):
		first := len(v.data)
		v.data = append(v.data, unsafe.Slice((*byte)(unsafe.Add(c.data, from*v.width)), (to-from)*v.width)...)
		if c.valid == nil {
			return
		}
		for i := from; i < to; i++ {
			if c.null(i) { // what DuckDB has there is of whatever was there before
				clear(v.data[first+(i-from)*v.width:][:v.width])
			}
		}
	default:
		for i := from; i < to; i++ {
			v.addWidened(c, i)
		}
	}
}

func (v *arrowValues) addValidity(c *column, rows, from, to int) {
	if c.valid == nil && v.nulls == 0 {
		return
	}
	if v.nulls == 0 {
		// No null so far: validity begins now, and all before it were there.
		v.valid = v.valid[:0]
		for i := range rows {
			v.valid = setBit(v.valid, i, true)
		}
	}
	for i := from; i < to; i++ {
		null := c.null(i)
		if null {
			v.nulls++
		}
		v.valid = setBit(v.valid, rows+i-from, !null)
	}
}

func (v *arrowValues) addTexts(c *column, from, to int) {
	if len(v.offsets) == 0 {
		v.offsets = append(v.offsets, 0)
	}
	for i := from; i < to; i++ {
		switch {
		case c.null(i):
		case c.own && len(v.data) == 0:
			text := c.text(i) // which is not held in memory twice
			v.data, v.own = text[:len(text):len(text)], true
		default:
			v.data = append(v.data, c.text(i)...)
		}
		v.offsets = append(v.offsets, int32(len(v.data)))
	}
}

// addWidened appends a number in more bytes than DuckDB has it in.
func (v *arrowValues) addWidened(c *column, i int) {
	var n int64
	if !c.null(i) {
		n = c.int(i)
	}
	wide := int128{lo: uint64(n), hi: n >> 63}
	v.data = append(v.data, unsafe.Slice((*byte)(unsafe.Pointer(&wide)), v.width)...)
}

// drain returns the column of a batch and begins the next.
func (v *arrowValues) drain(kind arrow.DataType, rows int) arrow.ArrayData {
	buffers := make([]*memory.Buffer, 1, 3)
	if v.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(v.valid)
	}
	if v.offsets != nil {
		buffers = append(buffers, memory.NewBufferBytes(unsafe.Slice((*byte)(unsafe.Pointer(&v.offsets[0])), 4*len(v.offsets))))
	}
	buffers = append(buffers, memory.NewBufferBytes(v.data))
	data := array.NewData(kind, rows, buffers, nil, v.nulls, 0)
	if v.own {
		v.data, v.own = nil, false // the row is as large as can be, and another follows
	}
	// The batch is written before anything is added, so the memory is used again.
	v.valid, v.data, v.offsets, v.nulls = v.valid[:0], v.data[:0], v.offsets[:0], 0
	return data
}

// setBit sets bit i, at most one byte past the end.
func setBit(bits []byte, i int, on bool) []byte {
	if i>>3 == len(bits) {
		bits = append(bits, 0)
	}
	if on {
		bits[i>>3] |= 1 << (i & 7)
	}
	return bits
}

// size is how many bytes DuckDB has for a value of a kind.
func size(k kind) int {
	switch k {
	case kindBoolean, kindInt8:
		return 1
	case kindInt16:
		return 2
	case kindInt32, kindFloat, kindDate:
		return 4
	case kindInt128, kindText:
		return 16
	}
	return 8
}
