package worker

import (
	"bufio"
	"context"
	"unsafe"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/parquet"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// parquetRows writes rows as a Parquet file like those of versions.
type parquetRows struct {
	columns []*column
	kinds   []feedmill.Column
	writer  *parquet.Writer
	out     *bufio.Writer
}

// newParquet writes to out from a goroutine of the writer, which has ended once the rows
// are closed. With large rows there is one encoder: each holds a group, which is a row.
func newParquet(request wire.Request, columns []*column, out *sender) (*parquetRows, error) {
	w := &parquetRows{columns: columns, out: bufio.NewWriterSize(out, frameBytes)}
	for i, c := range columns {
		kind := c.feedType()
		kind.Name = request.Names[i]
		if len(request.IDs) > 0 {
			kind.ID = request.IDs[i]
		}
		w.kinds = append(w.kinds, kind)
	}
	var options parquet.Options
	if len(request.Then) > 0 {
		options.Encoders = 1
	}
	var err error
	w.writer, err = parquet.NewWriter(w.out, w.kinds, options)
	return w, err
}

// Close ends the writer's goroutines, also where the file is left unfinished.
func (w *parquetRows) Close() error {
	w.writer.Abort()
	return nil
}

// feedType is the type of a column among those that feeds have.
func (c *column) feedType() feedmill.Column {
	switch c.kind {
	case kindBoolean:
		return feedmill.Column{Type: columnar.TypeBoolean}
	case kindText:
		if c.json {
			return feedmill.Column{Type: columnar.TypeJSON}
		}
		return feedmill.Column{Type: columnar.TypeText}
	case kindDate:
		return feedmill.Column{Type: columnar.TypeDate}
	case kindTimestamp:
		return feedmill.Column{Type: columnar.TypeTimestamp}
	case kindFloat, kindDouble:
		return feedmill.Column{Type: columnar.TypeNumber}
	}
	switch {
	case c.width > 0:
		return feedmill.Column{Type: columnar.TypeDecimal, Precision: c.width, Scale: c.scale}
	case c.kind == kindInt128:
		return feedmill.Column{Type: columnar.TypeDecimal, Precision: columnar.WideDigits}
	}
	return feedmill.Column{Type: columnar.TypeInteger}
}

func (w *parquetRows) begin(dst []byte) []byte { return dst }

func (w *parquetRows) append(dst []byte, n int) ([]byte, error) {
	// The vectors are the writer's from now on, so each chunk has its own.
	block := make([]columnar.Vector, len(w.columns))
	for i, c := range w.columns {
		block[i] = c.vector(&w.kinds[i], n)
	}
	return dst, w.writer.Append(context.Background(), block)
}

func (w *parquetRows) end(dst []byte) ([]byte, error) {
	if err := w.writer.Close(context.Background()); err != nil {
		return dst, err
	}
	return dst, w.out.Flush()
}

// vector copies the first n values of the chunk at hand.
func (c *column) vector(kind *feedmill.Column, n int) columnar.Vector {
	v := columnar.Vector{Type: kind.Type, Len: n, Precision: kind.Precision, Scale: kind.Scale}
	if c.valid != nil {
		v.Valid = append(v.Valid, unsafe.Slice((*uint64)(c.valid), (n+63)/64)...)
	}
	switch {
	case c.own && c.kind == kindText && !c.null(0):
		v.Bytes = c.text(0) // which is not held in memory twice
		v.Offsets = []uint32{0, uint32(len(v.Bytes))}
	case v.Type == columnar.TypeText || v.Type == columnar.TypeJSON:
		v.Offsets = make([]uint32, 1, n+1)
		v.Bytes = make([]byte, 0, c.textBytes(0, n))
		for i := range n {
			if !c.null(i) {
				v.Bytes = append(v.Bytes, c.text(i)...)
			}
			v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
		}
	case v.Type == columnar.TypeNumber:
		v.Floats = make([]float64, n)
		for i := range n {
			if !c.null(i) {
				v.Floats[i] = c.float(i)
			}
		}
	case v.Precision > columnar.NarrowDigits:
		v.Wide = make([]columnar.Int128, n)
		for i := range n {
			if !c.null(i) {
				wide := at[int128](&c.cells, i)
				v.Wide[i] = columnar.Int128{Hi: wide.hi, Lo: wide.lo}
			}
		}
	default:
		v.Ints = make([]int64, n)
		for i := range n {
			if !c.null(i) {
				v.Ints[i] = c.int(i)
			}
		}
	}
	return v
}

func (c *column) float(i int) float64 {
	if c.kind == kindFloat {
		return float64(at[float32](&c.cells, i))
	}
	return at[float64](&c.cells, i)
}

// int is a value of at most 64 bits that is no float.
func (c *column) int(i int) int64 {
	switch size(c.kind) {
	case 1:
		return int64(at[int8](&c.cells, i))
	case 2:
		return int64(at[int16](&c.cells, i))
	case 4:
		return int64(at[int32](&c.cells, i))
	}
	return at[int64](&c.cells, i)
}
