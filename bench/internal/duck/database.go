package duck

import (
	"errors"
	"strconv"
	"syscall"
	"time"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// database is one DuckDB in memory, without anything in it.
type database struct {
	db   duckdb.Database
	conn duckdb.Connection
}

func open(threads int) (*database, error) {
	var config duckdb.Config
	if duckdb.CreateConfig(&config) == duckdb.StateError {
		return nil, errors.New("open DuckDB: no configuration")
	}
	defer duckdb.DestroyConfig(&config)
	if duckdb.SetConfig(config, "threads", strconv.Itoa(threads)) == duckdb.StateError {
		return nil, errors.New("open DuckDB: no setting for its threads")
	}
	d := new(database)
	var message string
	if duckdb.OpenExt(":memory:", &d.db, config, &message) == duckdb.StateError {
		return nil, errors.New("open DuckDB: " + message)
	}
	if duckdb.Connect(d.db, &d.conn) == duckdb.StateError {
		duckdb.Close(&d.db)
		return nil, errors.New("open DuckDB: no connection")
	}
	return d, nil
}

func (d *database) close() {
	duckdb.Disconnect(&d.conn)
	duckdb.Close(&d.db)
}

// run runs a statement, takes all of its rows and leaves them where they are.
func (d *database) run(sql string) (r Result, err error) {
	used, began := rig.OwnTime(), time.Now()
	var statement duckdb.PreparedStatement
	defer duckdb.DestroyPrepare(&statement)
	if duckdb.Prepare(d.conn, sql, &statement) == duckdb.StateError {
		return r, errors.New(duckdb.PrepareError(statement))
	}
	var result duckdb.Result
	defer duckdb.DestroyResult(&result)
	if duckdb.ExecutePreparedStreaming(statement, &result) == duckdb.StateError {
		return r, errors.New(duckdb.ResultError(&result))
	}
	for {
		chunk := duckdb.FetchChunk(result)
		if chunk.Ptr == nil {
			break
		}
		if r.Rows == 0 {
			r.First = words(&result, chunk)
		}
		r.Rows += int64(duckdb.DataChunkGetSize(chunk))
		duckdb.DestroyDataChunk(&chunk)
	}
	if message := duckdb.ResultError(&result); message != "" {
		return r, errors.New(message)
	}
	r.Wall = time.Since(began)
	r.CPU = rig.OwnTime() - used
	r.Peak = peak()
	return r, nil
}

// words are the values of the first row of a chunk, where all are numbers of 64 bits.
func words(result *duckdb.Result, chunk duckdb.DataChunk) (values []uint64) {
	for i := range duckdb.ColumnCount(result) {
		switch duckdb.ColumnType(result, i) {
		case duckdb.TypeBigInt, duckdb.TypeUBigInt:
			values = append(values, *(*uint64)(duckdb.VectorGetData(duckdb.DataChunkGetVector(chunk, i))))
		default:
			return nil
		}
	}
	return values
}

// peak is the largest that this process has been, in bytes.
func peak() int {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of oneself it cannot fail
	return int(u.Maxrss) << 10
}
