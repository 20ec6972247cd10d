// Package migrate reads the numbered migrations of a store and says which of
// them a database still lacks.
//
// Both engines keep their migrations in files named NNNN_name.sql, with the
// same numbers for the same change, and apply what is pending in one
// transaction that also holds a lock on the schema's version. A crash in the
// middle therefore leaves nothing behind, and of several replicas that start
// at once exactly one finds work to do.
package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// PreviousRelease is the schema version of the previous release. A program of that release
// works on a database that this program has migrated, so migrations after it only add
// tables, columns and indexes. cmd/feedmill/testdata/previous-release names the release.
const PreviousRelease = 40

// ErrNewer is returned for a database that was migrated by a release after the next one.
var ErrNewer = errors.New("the database is newer than this program")

// Schema is what a database reports of its schema.
type Schema struct {
	Version int
	// Oldest is the schema version of the oldest program that can work on the database. It
	// is needed only for a version that the program does not have.
	Oldest int
}

// Migration is one step of the schema.
type Migration struct {
	Number int
	Name   string
	SQL    string
	// Below, unless it is 0, is the version that a database must be below when it is opened
	// for the migration to change it. The file begins with "-- below N".
	Below int
}

// Load reads the migrations in the folder migrations of fsys, in order.
func Load(fsys fs.FS) ([]Migration, error) {
	names, err := fs.Glob(fsys, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]Migration, 0, len(names))
	for i, name := range names {
		base := strings.TrimSuffix(path.Base(name), ".sql")
		digits, title, _ := strings.Cut(base, "_")
		number, err := strconv.Atoi(digits)
		if err != nil || number != i+1 || title == "" {
			return nil, fmt.Errorf("migration %s: the name must be %04d_title.sql", name, i+1)
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		m := Migration{Number: number, Name: title, SQL: string(text)}
		if limit, ok := strings.CutPrefix(m.SQL, "-- below "); ok {
			limit, _, _ = strings.Cut(limit, "\n")
			if m.Below, err = strconv.Atoi(limit); err != nil {
				return nil, fmt.Errorf("migration %s: below must be followed by a version; got %q", name, limit)
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// Pending is the part of all that a database with the given schema lacks. Migrations that
// are only for older databases change nothing. A database that the next release has
// migrated lacks nothing. One of a later release is [ErrNewer].
func Pending(all []Migration, schema Schema) ([]Migration, error) {
	if schema.Version > len(all) {
		if schema.Oldest <= len(all) {
			return nil, nil
		}
		return nil, fmt.Errorf("%w: its schema has version %d and supports programs from version %d, but this program has version %d; start the release that migrated it, or the one before it",
			ErrNewer, schema.Version, schema.Oldest, len(all))
	}
	pending := slices.Clone(all[schema.Version:])
	for i := range pending {
		if m := &pending[i]; m.Below != 0 && schema.Version >= m.Below {
			m.SQL = "SELECT 1"
		}
	}
	return pending, nil
}

// Same returns an error for a database whose schema is not exactly that of this program. It is for
// commands that use a store beside its server.
func Same(all []Migration, version int) error {
	switch {
	case version < len(all):
		return fmt.Errorf("the schema has version %d, but this program has version %d; start 'feedmill serve' of this program first", version, len(all))
	case version > len(all):
		return fmt.Errorf("%w: its schema has version %d, but this program has version %d; use the program of the server", ErrNewer, version, len(all))
	}
	return nil
}
