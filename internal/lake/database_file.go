package lake

import (
	"io/fs"
	"os"
	"strings"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// databaseFile is a file of a database and those that belong to it, as they were when
// a worker was started: the kernel lets it use these, and not others that are put in
// their place.
type databaseFile struct {
	engine wire.Engine
	path   string
	file   fs.FileInfo
	// beside are the paths of the log and the like, by the names that the cage has for
	// them, and there what was found at these paths.
	beside map[string]string
	there  map[string]fs.FileInfo
}

func newDatabaseFile(engine wire.Engine, path string, beside map[string]string) *databaseFile {
	d := &databaseFile{engine: engine, path: path, beside: beside, there: make(map[string]fs.FileInfo)}
	d.file, _ = os.Stat(path) // where it is not there, opening it will say so
	for name, path := range beside {
		if info, err := os.Stat(path); err == nil {
			d.there[name] = info
		}
	}
	return d
}

// duckdbFile is a file of DuckDB.
func duckdbFile(path string) *databaseFile {
	log := path + ".wal"
	// DuckDB takes what follows a question mark for the parameters of an address.
	if before, after, found := strings.Cut(path, "?"); found {
		log = before + ".wal?" + after
	}
	return newDatabaseFile(wire.EngineDuckDB, path, map[string]string{cageDatabaseLog: log})
}

// covers reports whether a worker that was started for d can use the files as they are
// now. One that is gone is missed by nobody.
func (d *databaseFile) covers(now *databaseFile) bool {
	if d.path != now.path || d.engine != now.engine || (d.file == nil) != (now.file == nil) || d.file != nil && !os.SameFile(d.file, now.file) {
		return false
	}
	for name, info := range now.there {
		if before := d.there[name]; before == nil || !os.SameFile(before, info) {
			return false
		}
	}
	return true
}

// logPath is where the log is.
func (d *databaseFile) logPath() string { return d.beside[cageDatabaseLog] }

// environment returns the variables that configure the cage of a worker. The worker can write
// to the folder spill.
func (d *databaseFile) environment(spill string) []string {
	all := []string{cageDatabase + "=" + d.path}
	for name, path := range d.beside {
		all = append(all, name+"="+path)
	}
	if d.engine == wire.EngineSQLite {
		all = append(all, sqliteTemp+"="+spill)
	}
	return all
}

const (
	// databaseShare is which part of a worker's memory DuckDB has for the file of a
	// database: a table is read as a stream, and what is sorted goes to the disk.
	databaseShare = 4
	// sqliteMemory is what SQLite has at least: a row of the maximum size, and its cache.
	sqliteMemory = 96 << 20
	// processBase is what a process may hold besides what the database of a worker may,
	// and sqliteBase what it may besides what SQLite may.
	processBase = 64 << 20
	sqliteBase  = 48 << 20
)

// memory is what the engine may hold, of what a worker of feeds has.
func (d *databaseFile) memory(worker int64) int64 {
	if d.engine == wire.EngineSQLite {
		return max(worker/databaseShare, sqliteMemory)
	}
	return worker / databaseShare
}

// process is what the whole process may hold, files apart, where the database of a worker
// of feeds may hold so much: the values of a run of rows are none that DuckDB counts.
func (d *databaseFile) process(worker int64) int64 {
	if d.engine == wire.EngineSQLite {
		return max(worker+processBase, d.memory(worker)+sqliteBase)
	}
	return worker + processBase
}
