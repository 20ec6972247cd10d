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

// ErrNewer is returned for a database that a later release has migrated.
var ErrNewer = errors.New("the database is newer than this program")

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

// Pending is the part of all that a database at the given version lacks. Migrations that
// are only for older databases change nothing. A version that all does not reach
// is [ErrNewer].
func Pending(all []Migration, version int) ([]Migration, error) {
	if version > len(all) {
		return nil, fmt.Errorf("%w: its schema has version %d, but this program supports versions up to %d; start a release at least as new as the one that migrated it",
			ErrNewer, version, len(all))
	}
	pending := slices.Clone(all[version:])
	for i := range pending {
		if m := &pending[i]; m.Below != 0 && version >= m.Below {
			m.SQL = "SELECT 1"
		}
	}
	return pending, nil
}
