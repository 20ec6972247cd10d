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
	// own says that this is memory of this process, and stays as it is.
	own bool
}

func (c *cells) null(i int) bool {
	return c.valid != nil && *(*uint64)(unsafe.Add(c.valid, i>>6<<3))&(1<<(i&63)) == 0
}

// at is value i of a column whose values are of type T.
func at[T any](c *cells, i int) T {
	var t T
	return *(*T)(unsafe.Add(c.data, uintptr(i)*unsafe.Sizeof(t)))
}

// inPlace is up to how many bytes a text is stored in place.
const inPlace = 12

// text is value i of a text column, which is in place or elsewhere.
func (c *cells) text(i int) []byte {
	s := unsafe.Add(c.data, i*16)
	size := *(*uint32)(s)
	if size <= inPlace {
		return unsafe.Slice((*byte)(unsafe.Add(s, 4)), size)
	}
	return unsafe.Slice(*(**byte)(unsafe.Add(s, 8)), size)
}

// textBytes is how many bytes the values [from, to) of a text column have.
func (c *cells) textBytes(from, to int) (size int) {
	for i := from; i < to; i++ {
		if !c.null(i) {
			size += int(*(*uint32)(unsafe.Add(c.data, i*16)))
		}
	}
	return size
}

// int128 is a number of 128 bits as DuckDB has it.
type int128 struct {
	lo uint64
	hi int64
}

// result is the rows of a query, chunk by chunk, as they are found.
type result struct {
	database *database
	args     []string
	// sql is the query that runs, and then are the queries whose rows follow.
	sql  string
	then []string
	// open says that the query may have more chunks, and fetched that it had one.
	open, fetched bool
	// short says that all rows fit into a page, so that they are held in memory.
	short bool
	// mayApart allows to read a row some columns at a time; held is one where such a
	// row is at hand and was not returned yet.
	mayApart bool
	held     int

	statement duckdb.PreparedStatement
	result    duckdb.Result
	columns   []column
	chunk     duckdb.DataChunk
}

// query begins a query. With apart, a row that is too large for the database is read some
// columns at a time.
func (d *database) query(sql string, args []string, apart bool) (*result, error) {
	return d.begin(sql, &result{database: d, args: args, mayApart: apart})
}

// page begins the query of a request, which may be one for a page.
func (d *database) page(request wire.Request) (*result, error) {
	return d.begin(request.SQL, &result{
		database: d, args: request.Args, mayApart: request.Apart, then: request.Then,
		short: d.file == "" && len(request.Args) == 0 && len(request.Then) == 0 && request.Limit > 0 && request.Limit <= pageRows,
	})
}

// pageRows is up to how many rows a result is held in memory.
const pageRows = 1000

func (d *database) begin(sql string, r *result) (*result, error) {
	var err error
	if r.held, err = r.start(sql); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// start begins a query whose rows come next. Where its only row had to be read apart, it returns
// one and the row is at hand.
func (r *result) start(sql string) (held int, err error) {
	r.sql, r.open = sql, true
	if err = r.begin(sql); outOfMemory(err) && r.mayApart {
		return r.startApart(err)
	}
	return 0, err
}

// startApart reads the row of a query that failed.
func (r *result) startApart(failure error) (int, error) {
	r.open = false
	r.release()
	return r.apart(r.sql, failure)
}

// begin runs a query, whose columns are those of the one before.
func (r *result) begin(sql string) error {
	run := r.runPrepared
	if r.short {
		run = r.runShort
	}
	if err := run(sql); err != nil {
		return err
	}
	columns := make([]column, duckdb.ColumnCount(&r.result))
	for i := range columns {
		c, err := describe(&r.result, duckdb.IdxT(i))
		if err != nil {
			return err
		}
		columns[i] = c
	}
	return r.take(columns)
}

// runShort runs a query whose rows are held in memory, which a limit does anyway. It is planned
// once; a prepared statement that reads a file is planned when it is prepared and again when it is run.
func (r *result) runShort(sql string) error {
	if duckdb.Query(r.database.conn, sql, &r.result) == duckdb.StateError {
		return r.failure()
	}
	return nil
}

// runPrepared runs a query whose rows are fetched as they are found.
func (r *result) runPrepared(sql string) error {
	if duckdb.Prepare(r.database.conn, sql, &r.statement) == duckdb.StateError {
		message := duckdb.PrepareError(r.statement)
		return &wire.Failure{Message: message, Memory: saysMemory(message)}
	}
	for i, arg := range r.args {
		if duckdb.BindVarcharLength(r.statement, duckdb.IdxT(i+1), arg, duckdb.IdxT(len(arg))) == duckdb.StateError {
			return fmt.Errorf("the query has no parameter %d", i+1)
		}
	}
	// Deprecated as it may be, there is no other way to a result that is not
	// held in memory whole.
	if duckdb.ExecutePreparedStreaming(r.statement, &r.result) == duckdb.StateError {
		return r.failure()
	}
	return nil
}

// take takes over the columns of a query, which are those of the one before.
func (r *result) take(columns []column) error {
	if r.columns == nil {
		r.columns = columns
		return nil
	}
	for i := range columns {
		if i >= len(r.columns) || !r.columns[i].alike(&columns[i]) {
			return fmt.Errorf("the type of column %d of the result changed", i)
		}
	}
	return nil
}

// alike reports whether the values of two columns lie in memory in the same way.
func (c *column) alike(other *column) bool {
	return c.kind == other.kind && c.json == other.json && c.width == other.width && c.scale == other.scale
}

func (r *result) close() { r.release() }

// release ends the query that runs.
func (r *result) release() {
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
	n := r.held
	r.held = 0
	for n == 0 {
		var err error
		switch {
		case r.open:
			n, err = r.fetch()
			if outOfMemory(err) && r.mayApart && !r.fetched {
				n, err = r.startApart(err)
				break
			}
			r.open, r.fetched = n > 0, n > 0
		case len(r.then) == 0:
			return 0, nil
		default:
			sql := r.then[0]
			r.then = r.then[1:]
			r.release()
			r.forget()
			n, err = r.start(sql)
		}
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// fetch fetches the next chunk of the query that runs.
func (r *result) fetch() (int, error) {
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
		return column{}, fmt.Errorf("column %d of the result has an unknown type (%d)", i, id)
	}
	return column{kind: k, json: k == kindText && duckdb.LogicalTypeGetAlias(t) == "JSON"}, nil
}
