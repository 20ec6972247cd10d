// Package record is what both engines do alike with the domain's records.
//
// [Store] is that part of a store: it is written once, in SQL that both engines
// understand, over the few things that an [Engine] does and writes in its own way.
// Events and deliveries are not in it: each engine has them in tables of its own
// making, and writes them many at a time.
//
// It names the columns of a record and lists its fields in the same order. A
// field is a place to scan a column into and a value of a statement, both at
// once. What the engines keep differently, such as a time, each describes with
// its [Kinds]. Lists and small records are JSON text in one column ([JSON]).
//
// It also holds a change to what may change, for both engines the same way: see
// [NoteSource], [KeepFeed] and [KeepSubscription].
package record

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Row is a row of either driver.
type Row interface{ Scan(into ...any) error }

// Kinds makes fields of what the engines keep differently.
type Kinds interface {
	// Time is NULL where the time is zero.
	Time(*time.Time) any
	Duration(*time.Duration) any
	// Words are texts without spaces.
	Words(*[]string) any
}

// Of puts an alias of the table before each of the columns.
func Of(alias, columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = alias + "." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}

// orNull is a field that may be NULL, which it then reads as the zero value.
type orNull[T any] struct{ of *T }

// nullable is the field of what v points at.
func nullable[T any](v *T) orNull[T] { return orNull[T]{v} }

// Value is what to write, never NULL.
func (f orNull[T]) Value() (driver.Value, error) {
	return driver.DefaultParameterConverter.ConvertValue(*f.of)
}

// Scan reads a column.
func (f orNull[T]) Scan(from any) error {
	var read sql.Null[T]
	err := read.Scan(from)
	*f.of = read.V
	return err
}

// scopes is the field of a key's scopes.
type scopes struct{ of *[]feedmill.Scope }

// Value joins the scopes.
func (f scopes) Value() (driver.Value, error) { return feedmill.JoinScopes(*f.of), nil }

// Scan splits them.
func (f scopes) Scan(from any) error {
	text, ok := from.(string)
	if !ok {
		return fmt.Errorf("scopes are a %T", from)
	}
	*f.of = feedmill.SplitScopes(text)
	return nil
}

// keyHash is the field of a key's hash.
type keyHash struct{ of *feedmill.KeyHash }

// Value is all of the hash.
func (f keyHash) Value() (driver.Value, error) { return f.of[:], nil }

// Scan reads a hash.
func (f keyHash) Scan(from any) error {
	hash, ok := from.([]byte)
	if !ok || len(hash) != len(f.of) {
		return fmt.Errorf("the hash of a key is a %T of %d bytes", from, len(hash))
	}
	copy(f.of[:], hash)
	return nil
}
