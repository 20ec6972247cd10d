package worker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/feedmill/feedmill/internal/lake/wire"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
)

// database is one DuckDB in memory, without anything in it.
type database struct {
	db   duckdb.Database
	conn duckdb.Connection
	// file is another database that requests read, empty for none.
	file string
}

// open opens a database that does what the server allows and nothing else.
func open(hello wire.Hello) (*database, error) {
	d, err := openFree(hello)
	if err != nil {
		return nil, err
	}
	if err := d.cage(hello); err != nil {
		d.close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	return d, nil
}

// openFree opens a database that is not yet in its cage.
func openFree(hello wire.Hello) (*database, error) {
	var config duckdb.Config
	if duckdb.CreateConfig(&config) == duckdb.StateError {
		return nil, errors.New("open database: no configuration")
	}
	defer duckdb.DestroyConfig(&config)
	for name, value := range map[string]string{
		"threads":                      strconv.Itoa(max(1, hello.Threads)),
		"memory_limit":                 strconv.FormatInt(hello.Memory, 10) + "B",
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
		"allow_community_extensions":   "false",
		"allow_persistent_secrets":     "false",
	} {
		if duckdb.SetConfig(config, name, value) == duckdb.StateError {
			return nil, fmt.Errorf("open database: no setting %s", name)
		}
	}
	d := new(database)
	var message string
	if duckdb.OpenExt(":memory:", &d.db, config, &message) == duckdb.StateError {
		return nil, fmt.Errorf("open database: %s", message)
	}
	if duckdb.Connect(d.db, &d.conn) == duckdb.StateError {
		d.close()
		return nil, errors.New("open database: no connection")
	}
	d.file = hello.Database
	return d, nil
}

// attach opens the file of the worker for one request: whoever keeps it can write
// it in between.
func (d *database) attach() error {
	if err := d.exec("ATTACH " + quote(d.file) + " AS " + dialect.Attached + " (TYPE duckdb, READ_ONLY)"); err != nil {
		return &wire.Failure{Message: err.Error(), Memory: saysMemory(err.Error()), Stage: wire.StageOpen}
	}
	return nil
}

// saysMemory reports whether a message of DuckDB is about memory, where there is no type
// beside it.
func saysMemory(message string) bool { return strings.HasPrefix(message, "Out of Memory") }

// detach closes it again, also where statements ran inside of it. A worker that cannot is of no more
// use.
func (d *database) detach(inside bool) error {
	if inside {
		if err := d.exec("USE memory"); err != nil {
			return brokenError{err}
		}
	}
	if err := d.exec("DETACH " + dialect.Attached); err != nil {
		return brokenError{err}
	}
	return nil
}

// cage takes away what a query does not need. The last setting forbids to
// change any, so that no query can undo them.
func (d *database) cage(hello wire.Hello) error {
	settings := []string{
		"SET TimeZone = 'UTC'",
		"SET preserve_insertion_order = true",
		"SET parquet_metadata_cache = true",
		// By default the allocator keeps up to 128 MiB that the database has released.
		fmt.Sprintf("SET allocator_flush_threshold = '%dB'", hello.Memory/4),
		fmt.Sprintf("SET allocator_bulk_deallocation_flush_threshold = '%dB'", hello.Memory/4),
		"SET temp_directory = " + quote(hello.Temp),
	}
	if hello.Temp != "" {
		settings = append(settings, fmt.Sprintf("SET max_temp_directory_size = '%dB'", hello.TempBytes))
	}
	if hello.Database != "" {
		settings = append(settings, "SET allowed_paths = ["+quote(hello.Database)+", "+quote(hello.DatabaseLog)+"]")
	}
	settings = append(settings,
		"SET allowed_directories = ["+quote(strings.TrimSuffix(hello.Folder, "/")+"/")+"]",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	)
	for _, setting := range settings {
		if err := d.exec(setting); err != nil {
			return fmt.Errorf("%s: %w", setting, err)
		}
	}
	return nil
}

func (d *database) close() {
	duckdb.Disconnect(&d.conn)
	duckdb.Close(&d.db)
}

func (d *database) exec(sql string) error {
	var result duckdb.Result
	state := duckdb.Query(d.conn, sql, &result)
	defer duckdb.DestroyResult(&result)
	if state == duckdb.StateError {
		return errors.New(duckdb.ResultError(&result))
	}
	return nil
}

// quote is a text as SQL has it.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
