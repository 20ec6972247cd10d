package feedmill

import (
	"slices"
	"time"
)

// Link is a URL that reads a feed without a key. The secret in the URL is not part
// of it, only its hash.
type Link struct {
	ID        ID
	Workspace ID
	Feed      ID
	Name      string
	// Format is the one in which rows are read, empty where the reader chooses.
	Format string
	// Fields are the columns that are read, none for all that are not hidden.
	Fields []LinkColumn
	// Filters are conditions that rows must meet, as reads have them.
	Filters   []LinkFilter
	Hash      KeyHash
	CreatedAt time.Time
	// ExpiresAt is zero for a link that is good until it is revoked.
	ExpiresAt time.Time
	// LastUsedAt is zero for a link that was never read.
	LastUsedAt time.Time
	// Uses counts how often it was read.
	Uses int64
}

// LinkColumn is a column that a link names. It stays that column when it is
// renamed.
type LinkColumn struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// LinkFilter is a condition of a link, and the column that it is of.
type LinkFilter struct {
	Column LinkColumn `json:"column"`
	Text   string     `json:"text"`
}

// In is what the column is called among some columns now, and whether it is hidden; it
// reports false where it is not there any more.
func (c LinkColumn) In(columns []Column) (name string, hidden, there bool) {
	at := slices.IndexFunc(columns, func(column Column) bool { return column.ID == c.ID })
	if at < 0 {
		return c.Name, false, false
	}
	return columns[at].Name, columns[at].Hidden, true
}

// Expired reports whether the link has ended by itself at a time.
func (l *Link) Expired(at time.Time) bool { return !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(at) }
