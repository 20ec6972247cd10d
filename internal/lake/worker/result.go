package worker

import (
	"fmt"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// kind is how the values of a column lie in memory.
type kind byte

const (
	kindBoolean kind = iota
	kindInt8
	kindInt16
	kindInt32
	kindInt64
	kindUint64
	kindInt128
	kindFloat
	kindDouble
	kindText
	kindDate
	kindTimestamp
)

// column is a column of a result and, while a chunk is at hand, its values.
type column struct {
	kind  kind
	json  bool // text that is JSON
	width int  // of a decimal; zero where it is none
	scale int
	cells
}

// cells are the values of a column in one chunk. They are DuckDB's memory and
// gone with the chunk.
type cells struct {
	data  unsafe.Pointer
	valid unsafe.Pointer // nil where nothing is null
}

func (c *cells) null(i int) bool {
	return c.valid != nil && *(*uint64)(unsafe.Add(c.valid, i>>6<<3))&(1<<(i&63)) == 0
}

// at is value i of a column whose values are of type T.
func at[T any](c *cells, i int) T {
	var t T
	return *(*T)(unsafe.Add(c.data, uintptr(i)*unsafe.Sizeof(t)))
}

// text is value i of a text column: up to twelve bytes stand in place, more
// stand elsewhere.
func (c *cells) text(i int) []byte {
	s := unsafe.Add(c.data, i*16)
	size := *(*uint32)(s)
	if size <= 12 {
		return unsafe.Slice((*byte)(unsafe.Add(s, 4)), size)
	}
	return unsafe.Slice(*(**byte)(unsafe.Add(s, 8)), size)
}

// int128 is a number of 128 bits as DuckDB has it.
type int128 struct {
	lo uint64
	hi int64
}

// result is the rows of a query, chunk by chunk, as they are found.
type result struct {
	statement duckdb.PreparedStatement
	result    duckdb.Result
	columns   []column
	chunk     duckdb.DataChunk
}

// query begins a query.
func (d *database) query(sql string, args []string) (*result, error) {
	r := new(result)
	state := duckdb.Prepare(d.conn, sql, &r.statement)
	if state == duckdb.StateError {
		message := duckdb.PrepareError(r.statement)
		r.close()
		return nil, &wire.Failure{Message: message, Memory: saysMemory(message)}
	}
	for i, arg := range args {
		if duckdb.BindVarcharLength(r.statement, duckdb.IdxT(i+1), arg, duckdb.IdxT(len(arg))) == duckdb.StateError {
			r.close()
			return nil, fmt.Errorf("the query has no parameter %d", i+1)
		}
	}
	// Deprecated as it may be, there is no other way to a result that is not
	// held in memory whole.
	state = duckdb.ExecutePreparedStreaming(r.statement, &r.result)
	if state == duckdb.StateError {
		err := r.failure()
		r.close()
		return nil, err
	}
	for i := range duckdb.ColumnCount(&r.result) {
		c, err := describe(&r.result, i)
		if err != nil {
			r.close()
			return nil, err
		}
		r.columns = append(r.columns, c)
	}
	return r, nil
}

func (r *result) close() {
	duckdb.DestroyDataChunk(&r.chunk)
	duckdb.DestroyResult(&r.result)
	duckdb.DestroyPrepare(&r.statement)
}

// failure is what the database says went wrong.
func (r *result) failure() error {
	return &wire.Failure{
		Message: duckdb.ResultError(&r.result),
		Memory:  duckdb.ResultErrorType(&r.result) == duckdb.ErrorTypeOutOfMemory,
	}
}

// next fetches the next chunk and returns how many rows it has: none at the end.
func (r *result) next() (int, error) {
	duckdb.DestroyDataChunk(&r.chunk)
	r.chunk = duckdb.FetchChunk(r.result)
	if r.chunk.Ptr == nil {
		if duckdb.ResultError(&r.result) != "" {
			return 0, r.failure()
		}
		return 0, nil
	}
	for i := range r.columns {
		v := duckdb.DataChunkGetVector(r.chunk, duckdb.IdxT(i))
		r.columns[i].cells = cells{data: duckdb.VectorGetData(v), valid: duckdb.VectorGetValidity(v)}
	}
	return int(duckdb.DataChunkGetSize(r.chunk)), nil
}

// plain are the types of DuckDB whose values are known by the type alone.
var plain = map[duckdb.Type]kind{
	duckdb.TypeBoolean:     kindBoolean,
	duckdb.TypeTinyInt:     kindInt8,
	duckdb.TypeSmallInt:    kindInt16,
	duckdb.TypeInteger:     kindInt32,
	duckdb.TypeBigInt:      kindInt64,
	duckdb.TypeUBigInt:     kindUint64,
	duckdb.TypeHugeInt:     kindInt128,
	duckdb.TypeFloat:       kindFloat,
	duckdb.TypeDouble:      kindDouble,
	duckdb.TypeVarchar:     kindText,
	duckdb.TypeDate:        kindDate,
	duckdb.TypeTimestamp:   kindTimestamp,
	duckdb.TypeTimestampTZ: kindTimestamp,
}

func describe(r *duckdb.Result, i duckdb.IdxT) (column, error) {
	t := duckdb.ColumnLogicalType(r, i)
	defer duckdb.DestroyLogicalType(&t)
	id := duckdb.GetTypeId(t)
	if id == duckdb.TypeDecimal {
		return column{
			kind:  plain[duckdb.DecimalInternalType(t)],
			width: int(duckdb.DecimalWidth(t)),
			scale: int(duckdb.DecimalScale(t)),
		}, nil
	}
	k, ok := plain[id]
	if !ok {
		return column{}, fmt.Errorf("column %d of the result is of a type that is not known (%d)", i, id)
	}
	return column{kind: k, json: k == kindText && duckdb.LogicalTypeGetAlias(t) == "JSON"}, nil
}
