package input

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

const (
	// ContextPrefix begins the names of columns of values around the records.
	ContextPrefix = "_context."
	// MaxContext is how many values around the records of a document are columns, and MaxContextBytes how many bytes all have together.
	MaxContext      = 100
	MaxContextBytes = 16 << 10
)

// Context says what becomes of the values around the records of a document.
type Context struct {
	// Columns makes them columns, and Warn warns that they are none.
	Columns, Warn bool
	// Used are those that the pagination of a source uses, which the warning does not name.
	Used []string
}

// Off reports whether nobody wants to know of them.
func (c Context) Off() bool { return !c.Columns && !c.Warn }

// ContextValue is a value around the records, by the names that lead to it.
type ContextValue struct {
	Name string
	Kind columnar.CellKind
	Text []byte
}

// ContextValues are the values around the records of a document.
type ContextValues struct {
	Values []ContextValue
	// beyond counts values beyond the limits, and bytes those of the texts.
	beyond, bytes int
}

// Add adds a value, of whose text it keeps a copy. The last value of a name counts.
func (c *ContextValues) Add(name string, kind columnar.CellKind, text []byte) {
	at := slices.IndexFunc(c.Values, func(v ContextValue) bool { return v.Name == name })
	if at >= 0 {
		c.bytes -= len(c.Values[at].Text)
	}
	switch {
	case c.bytes+len(text) > MaxContextBytes, at < 0 && len(c.Values) == MaxContext:
		c.beyond++
		if at >= 0 {
			c.Values = slices.Delete(c.Values, at, at+1)
		}
		return
	case at < 0:
		c.Values = append(c.Values, ContextValue{})
		at = len(c.Values) - 1
	}
	c.bytes += len(text)
	c.Values[at] = ContextValue{name, kind, slices.Clone(text)}
}

// Drop forgets the values of a name, and of all that are in it.
func (c *ContextValues) Drop(name string) {
	c.Values = slices.DeleteFunc(c.Values, func(v ContextValue) bool {
		dropped := v.Name == name || strings.HasPrefix(v.Name, name+".")
		if dropped {
			c.bytes -= len(v.Text)
		}
		return dropped
	})
}

// Warnings name the values that are left out: all of them, or those beyond the limits.
func (c Context) Warnings(around ContextValues) []feedmill.Warning {
	values, beyond := around.Values, around.beyond
	if c.Columns {
		if beyond == 0 {
			return nil
		}
		return []feedmill.Warning{{Code: feedmill.WarnContext, Count: int64(beyond), Detail: fmt.Sprintf(
			"The document has too many values around its records, so %d were left out. The maximum is %d values with %d bytes in total.", beyond, MaxContext, MaxContextBytes)}}
	}
	var names []string
	for _, v := range values {
		if !slices.Contains(c.Used, v.Name) {
			names = append(names, v.Name)
		}
	}
	if !c.Warn || len(names) == 0 {
		return nil
	}
	count := len(names) + beyond
	const listed = 10
	shown := strings.Join(names[:min(len(names), listed)], ", ")
	if more := count - listed; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return []feedmill.Warning{{Code: feedmill.WarnContext, Count: int64(count), Detail: fmt.Sprintf(
		"Values around the records were left out: %s. Set context=true to add them as columns (%s%s).", shown, ContextPrefix, names[0])}}
}
