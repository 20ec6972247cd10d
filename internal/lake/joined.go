package lake

import (
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// joinVersions returns versions that a tree joins as one version, whose columns are those of
// all of them. Its rows have the numbers of the first version's rows, nr, and of the others',
// nr1 and so on.
func joinVersions(versions []*Version, t *query.Tree) *Version {
	if len(versions) == 1 {
		return versions[0]
	}
	v := &Version{Name: versions[0].Name}
	from, exist := "", ""
	for i, part := range versions {
		selected := make([]string, 0, len(part.Columns)+1)
		for c := range part.Columns {
			selected = append(selected, "c"+strconv.Itoa(c)+" AS c"+strconv.Itoa(len(v.Columns)+c))
		}
		table := "(SELECT " + strings.Join(append(selected, "nr AS "+rowNumber(i)), ", ") + " FROM " + part.scan("", 0) + ") AS j" + strconv.Itoa(i)
		v.Columns = append(v.Columns, part.Columns...)
		v.Files = append(v.Files, part.Files...)
		switch {
		case i == 0:
			from = table
		case t.Joins[i-1].Exists:
			exist = " WHERE EXISTS (SELECT 1 FROM " + table + " WHERE " + joinedOn(t.Joins[i-1], columnName) + ")"
		default:
			from += joinWord(t.Joins[i-1]) + table + " ON " + joinedOn(t.Joins[i-1], columnName)
		}
	}
	v.source = "(SELECT * FROM " + from + exist + ")"
	return v
}

// rowNumber is what SQL calls the number of a row in a version of a join.
func rowNumber(version int) string {
	if version == 0 {
		return "nr"
	}
	return "nr" + strconv.Itoa(version)
}

func joinWord(j query.Join) string {
	if j.Kind == feedmill.JoinLeft {
		return " LEFT JOIN "
	}
	return " JOIN "
}

// joinedOn writes the condition of a join.
func joinedOn(j query.Join, name func(query.Column) string) string {
	conditions := make([]string, len(j.On))
	for i, p := range j.On {
		left, right := name(p.Left), name(p.Right)
		if p.Left.Type == columnar.TypeDecimal {
			conditions[i] = duckdb.DecimalsEqual(p.Left.Column, p.Right.Column, left, right)
		} else {
			conditions[i] = left + " = " + right
		}
	}
	return query.On(conditions)
}

// ties are further keys of rows that are not sorted otherwise, so that joined rows have one
// order: the numbers of the rows of the other versions, and of groups their keys.
func (s *statement) ties() (selected, keys []string) {
	if len(s.tree.Joins) == 0 {
		return nil, nil
	}
	if s.tree.Grouped() {
		for i, o := range s.tree.Outputs {
			if o.Aggregate == "" {
				keys = append(keys, "f"+strconv.Itoa(i))
			}
		}
		return nil, keys
	}
	for i, j := range s.tree.Joins {
		if !j.Exists {
			keys = append(keys, "r"+strconv.Itoa(i+1))
			selected = append(selected, rowNumber(i+1)+" AS r"+strconv.Itoa(i+1))
		}
	}
	return selected, keys
}

// shownColumn is a column as people read it, with the alias of its feed where feeds are joined.
func shownColumn(first string, t *query.Tree) func(query.Column) string {
	return func(c query.Column) string {
		switch {
		case len(t.Joins) == 0:
			return quoteName(c.Name)
		case c.From == "":
			return quoteName(first) + "." + quoteName(c.Name)
		}
		return quoteName(c.From) + "." + quoteName(c.Name)
	}
}

// shownTables are the feeds that a statement selects from, as people read it.
func shownTables(tables, aliases []string, t *query.Tree, name func(query.Column) string) string {
	sql := quoteName(tables[0])
	for i, j := range t.Joins {
		if i == 0 {
			sql += " AS " + quoteName(aliases[0])
		}
		sql += joinWord(j) + quoteName(tables[i+1]) + " AS " + quoteName(aliases[i+1]) + " ON " + joinedOn(j, name)
	}
	return sql
}
