package postgres

import (
	"regexp"
	"slices"
)

// equal tests for a text. Where that needs a cast, it also has the condition of the
// column itself, which an index serves and which is true of all these rows.
func (c *Column) equal(column, value string, bind func(string) string) string {
	name := c.name()
	switch c.Equal {
	case EqualUUID:
		if uuid.MatchString(value) {
			return name + " = CAST(" + bind(value) + " AS uuid)"
		}
	case EqualEnum:
		// The server takes the parameter for one of the enum, whose name need not be
		// known to this user.
		if slices.Contains(c.Labels, value) {
			return name + " = " + bind(value)
		}
	}
	placeholder := bind(value)
	text := "CAST(" + placeholder + " AS text)"
	exact := column + " = " + text
	if c.Loose {
		exact += ` COLLATE "C"`
	}
	switch {
	case c.Equal == EqualPadded:
		return exact + " AND " + name + " = CAST(" + placeholder + " AS bpchar)"
	case c.Equal == EqualAnyCase:
		return exact + " AND " + name + " = " + bind(value)
	case c.Kind == Text && c.Loose:
		return exact + " AND " + name + " = " + text
	}
	return exact
}

// uuid is how PostgreSQL writes one. It reads other forms too, which no text of a
// column is equal to.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
