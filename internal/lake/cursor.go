package lake

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// Cursor is where a page ended: the keys of its last row.
type Cursor struct {
	// Version is the name of the version that the pages are of, so that all of
	// them are of the same.
	Version string `json:"v"`
	// Query tells queries apart.
	Query string `json:"q"`
	// Keys are what the rows are sorted by, nil for null, and last the number of the row.
	Keys []*string `json:"k"`
	// Long are the places of keys that are too long for a link. They are read from the row.
	Long []int `json:"l,omitempty"`
}

// longKey is from how many bytes on a key is not part of a cursor.
const longKey = 1 << 10

// NextPage is the cursor after a page of a query, whose last row had the given keys.
func NextPage(v *Version, q *feedmill.Query, keys []*string) Cursor {
	return Cursor{Version: v.Name, Query: fingerprint(q), Keys: keys}
}

// shorten leaves out long keys that are values of the row itself.
func (c *Cursor) shorten(sort []query.Key) {
	for i, k := range sort {
		if k.Aggregate == "" && c.Keys[i] != nil && len(*c.Keys[i]) >= longKey {
			c.Keys[i], c.Long = nil, append(c.Long, i)
		}
	}
}

// String is the cursor as clients carry it, which is not for them to read.
func (c Cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings alone cannot fail
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// ParseCursor reads what String wrote.
func ParseCursor(text string) (*Cursor, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	c := new(Cursor)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	if len(c.Keys) == 0 || c.Keys[len(c.Keys)-1] == nil {
		return nil, errors.New("cursor: no row")
	}
	if _, err := strconv.ParseInt(*c.Keys[len(c.Keys)-1], 10, 64); err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	if slices.ContainsFunc(c.Long, func(i int) bool { return i < 0 || i >= len(c.Keys)-1 }) {
		return nil, errors.New("cursor: no such key")
	}
	return c, nil
}

// row is the number of the last row of the page.
func (c *Cursor) row() int64 {
	n, _ := strconv.ParseInt(*c.Keys[len(c.Keys)-1], 10, 64) // ParseCursor has looked
	return n
}

// fits reports whether the cursor is of a page of this query.
func (c *Cursor) fits(v *Version, q *feedmill.Query, keys int) bool {
	return c.Version == v.Name && c.Query == fingerprint(q) && len(c.Keys) == keys+1
}

// fingerprint is the same for queries that give the same rows in the same
// order. How many of them make a page does not matter, nor where in the
// request something stood; nor does the time, or a day would be over in the
// middle of a list.
func fingerprint(q *feedmill.Query) string {
	h := sha256.New()
	for _, f := range q.Fields {
		fmt.Fprintf(h, "field %q %q\n", f.Name, f.Aggregate)
		if f.Group != "" {
			fmt.Fprintf(h, "group %q %s %d\n", f.Group, q.Zone, q.WeekStart)
		}
		for _, a := range f.Aggregates {
			fmt.Fprintf(h, "aggregate %q %q\n", a.Fn, a.As)
		}
	}
	for _, c := range q.Where {
		fmt.Fprintf(h, "where %q %v\n", c.Name, c.Any)
		for i := range c.Filters {
			printFilter(h, &c.Filters[i])
		}
	}
	for _, f := range q.Fields {
		for i := range f.Having {
			fmt.Fprintf(h, "having %q %q\n", f.Name, f.Having[i].Fn)
			printFilter(h, &f.Having[i].Filter)
		}
	}
	if q.Tree != nil {
		printNode(h, q.Tree)
	}
	for _, s := range q.Sort {
		fmt.Fprintf(h, "sort %q %v\n", s.Name, s.Descending)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}

// printFilter writes a filter for the fingerprint of a query.
func printFilter(h io.Writer, f *feedmill.Filter) {
	fmt.Fprintf(h, "filter %q %v %v\n", f.Op, f.Inverted, f.CaseSensitive)
	for _, v := range f.Values {
		fmt.Fprintf(h, "value %v %q", v.Null, v.Text)
		if v.Period != nil {
			fmt.Fprintf(h, " %+v", *v.Period)
		}
		fmt.Fprintln(h)
	}
}

// printNode writes a condition tree for the fingerprint of a query.
func printNode(h io.Writer, n *feedmill.WhereNode) {
	if n.All == nil && n.Any == nil {
		fmt.Fprintf(h, "leaf %q\n", n.Name)
		printFilter(h, &n.Filter)
		return
	}
	fmt.Fprintf(h, "all %d any %d\n", len(n.All), len(n.Any))
	for _, list := range [][]feedmill.WhereNode{n.All, n.Any} {
		for i := range list {
			printNode(h, &list[i])
		}
	}
}

// after is true for the rows that come after those of the page before.
func (s *statement) after(c *Cursor) string {
	// Rows that are after it in the first key, or equal in that and after it
	// in the second, and so on; the number of the row is never equal.
	var any []string
	equal := ""
	for i, k := range s.tree.Sort {
		name := "s" + strconv.Itoa(i)
		long := slices.Contains(c.Long, i)
		if c.Keys[i] == nil && !long {
			// Null is the last of all.
			equal += name + " IS NULL AND "
			continue
		}
		value := ""
		if long {
			value = "(SELECT " + s.Expression(k.Expression) + " FROM " + s.version.scanRows(s.folder, []int64{c.row()}) + ")"
		} else {
			value = "CAST(" + s.Bind(*c.Keys[i]) + " AS " + duckdb.Type(k.Expression) + ")"
		}
		sign := " > "
		if k.Descending {
			sign = " < "
		}
		any = append(any, "("+equal+"("+name+sign+value+" OR "+name+" IS NULL))")
		equal += name + " = " + value + " AND "
	}
	row := strconv.FormatInt(c.row(), 10)
	if len(s.Args()) > 0 {
		// A statement without parameters is not prepared, and so planned only once.
		row = "CAST(" + s.Bind(row) + " AS BIGINT)"
	}
	any = append(any, "("+equal+"rn > "+row+")")
	return "(" + strings.Join(any, " OR ") + ")"
}
