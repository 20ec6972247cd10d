package sqlite

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

// candidate is a column whose type is being found. SQLite keeps any value in any
// column, so that a declared type is a hint, which the values have to bear out.
type candidate struct {
	name, declared string
	notNull, sure  bool
	// kind is what the declaration hints at, empty for nothing.
	kind             columnar.Type
	precision, scale int

	integers, reals, texts, blobs int64
	// misfits are values of the right class that the kind cannot hold.
	misfits int64
	// others is how many values kept the column from its kind, and warning says
	// what became of it.
	others  int64
	warning string
}

var digits = regexp.MustCompile(`^(?:DECIMAL|NUMERIC)\s*\(\s*(\d{1,3})\s*(?:,\s*(\d{1,3})\s*)?\)$`)

// exactDigits is up to how many digits a number of SQLite has exactly.
const exactDigits = 15

// newCandidate takes the hint of a declaration: SQLite's own rules, and the names
// that people use where it has no type.
func newCandidate(name, declared string) *candidate {
	c := &candidate{name: name, declared: declared}
	upper := strings.ToUpper(strings.TrimSpace(declared))
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(upper, part) })
	}
	found := digits.FindStringSubmatch(upper)
	if found != nil {
		c.precision, _ = strconv.Atoi(found[1])
		c.scale, _ = strconv.Atoi(found[2])
	}
	switch {
	case upper == "BOOLEAN" || upper == "BOOL":
		c.kind = columnar.TypeBoolean
	case upper == "DATE":
		c.kind = columnar.TypeDate
	case has("DATETIME", "TIMESTAMP"):
		c.kind = columnar.TypeTimestamp
	case has("INT"):
		c.kind = columnar.TypeInteger
	case has("JSON"):
		c.kind = columnar.TypeJSON
	case has("CHAR", "CLOB", "TEXT"):
		c.kind = columnar.TypeText
	case has("REAL", "FLOA", "DOUB"):
		c.kind = columnar.TypeNumber
	case found != nil && c.precision >= 1 && c.precision <= exactDigits && c.scale <= c.precision:
		c.kind = columnar.TypeDecimal
	}
	return c
}

// tests are what has to be known of the values, as SQL: none for texts, which hold
// everything, and for columns that are sure.
func (c *candidate) tests() []string {
	if c.sure && (c.kind == columnar.TypeInteger || c.kind == columnar.TypeNumber) || c.kind == columnar.TypeText || c.kind == columnar.TypeJSON {
		return nil
	}
	name := dialect.Name(c.name)
	class := func(of string) string { return "total(typeof(" + name + ") = '" + of + "')" }
	classes, misfit := c.misfit(name)
	return []string{class("integer"), class("real"), class("text"), class("blob"), "total(typeof(" + name + ") IN (" + classes + ") AND (" + misfit + "))"}
}

// misfit is a test of values of some classes that the kind cannot hold.
func (c *candidate) misfit(name string) (classes, sql string) {
	switch c.kind {
	case columnar.TypeBoolean:
		return "'integer'", name + " NOT IN (0, 1)"
	case columnar.TypeDate:
		return "'text'", "date(" + name + ") IS NOT " + name
	case columnar.TypeTimestamp:
		return "'text'", name + " NOT GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' OR julianday(" + name + ") IS NULL OR date(substr(" + name + ", 1, 10)) IS NOT substr(" + name + ", 1, 10)"
	case columnar.TypeDecimal:
		return "'integer', 'real'", fmt.Sprintf("round(%s, %d) <> %s OR abs(%s) >= 1e%d", name, c.scale, name, name, c.precision-c.scale)
	}
	// A whole number that no float holds, where there are floats beside it.
	return "'integer'", name + " > 9007199254740992 OR " + name + " < -9007199254740992"
}

// counted takes the answers to the tests.
func (c *candidate) counted(row []dialect.Cell) {
	for i, to := range []*int64{&c.integers, &c.reals, &c.texts, &c.blobs, &c.misfits} {
		switch row[i].Class {
		case dialect.ClassFloat:
			*to = int64(row[i].Float)
		case dialect.ClassInteger:
			*to = row[i].Int
		}
	}
}

// decide is the type that holds all values.
func (c *candidate) decide() (database.Field, dialect.Column) {
	f := database.Field{Native: c.declared}
	f.Name, f.SourceName, f.Nullable = c.name, c.name, !c.notNull
	if f.Native == "" {
		f.Native = "(none)"
	}
	f.Empty = c.kind == "" && c.integers+c.reals+c.texts+c.blobs == 0
	column := dialect.Column{Name: c.name}
	f.Type = c.kind
	if !c.fits() {
		f.Type = c.widest()
		if c.kind != "" {
			c.warning = fmt.Sprintf("The column is declared as %s but has %d values of other types, so its type is %s. Fix the values in the database to get the declared type.", c.declared, c.others, f.Type)
		}
	}
	switch f.Type {
	case columnar.TypeDecimal:
		f.Precision, f.Scale = c.precision, c.scale
	case columnar.TypeText:
		column.Blob = c.blobs > 0 && c.integers+c.reals+c.texts == 0 || strings.EqualFold(c.declared, "BLOB") && c.integers+c.reals+c.texts == 0
		column.Mixed = !column.Blob
		if column.Blob {
			f.Format = "base64"
		}
	case columnar.TypeJSON:
		column.Mixed = true
	}
	return f, column
}

// fits reports whether all values are of the kind, and counts the others.
func (c *candidate) fits() bool {
	switch c.kind {
	case "":
		return false
	case columnar.TypeText, columnar.TypeJSON:
		return true
	case columnar.TypeInteger, columnar.TypeBoolean:
		c.others = c.reals + c.texts + c.blobs
		if c.kind == columnar.TypeBoolean {
			c.others += c.misfits
		}
	case columnar.TypeNumber:
		c.others = c.texts + c.blobs + c.misfits
	case columnar.TypeDecimal:
		c.others = c.texts + c.blobs + c.misfits
	default:
		c.others = c.integers + c.reals + c.blobs + c.misfits
	}
	return c.others == 0
}

// widest is the type that holds values of all classes that there are.
func (c *candidate) widest() columnar.Type {
	switch {
	case c.texts+c.blobs > 0 || c.integers+c.reals == 0:
		return columnar.TypeText
	case c.reals == 0:
		return columnar.TypeInteger
	case c.integers == 0 || c.kind == columnar.TypeDecimal || c.misfits == 0:
		return columnar.TypeNumber
	}
	return columnar.TypeText
}
