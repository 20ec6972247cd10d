package database

import (
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// Explain says what a plan comes to.
func Explain(p *query.Plan) Explanation {
	sql := p.SQL
	if p.Rest != "" {
		sql += fmt.Sprintf("; -- then, if there are fewer than %d rows:\n%s", p.Tree.Limit, p.Rest)
	}
	return Explanation{SQL: sql, Parameters: p.Args, GroupedHere: p.GroupHere, Ran: func(f query.Placed) feedmill.RanIn {
		if f.Column.Derived != nil && !p.GroupHere && !p.HavingHere || f.Column.Derived == nil && p.Sent[f.Test] {
			return feedmill.RanInSource
		}
		return feedmill.RanInHere
	}}
}

// Pushdown are the operators that a database tests of a column.
func Pushdown(d query.Database, c query.Column) (pushed []feedmill.FilterOp) {
	for _, op := range query.Operators(c.Type) {
		var p query.Predicate = query.Compare{Column: c, Comparison: query.Equal}
		switch op {
		case feedmill.OpIsNull:
			p = query.IsNull{Column: c}
		case feedmill.OpContains, feedmill.OpStartsWith, feedmill.OpEndsWith, feedmill.OpMatches:
			p = query.Match{Column: c, Op: op}
		case feedmill.OpIsEmpty:
			p = query.IsEmpty{Column: c}
		}
		if d.Can(p) {
			pushed = append(pushed, op)
		}
	}
	return pushed
}

// maxLabel is how long the first line of a comment may be to be a label.
const maxLabel = 80

// FirstLine is the first line of a comment as a label.
func FirstLine(comment string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(comment), "\n")
	line = strings.TrimSpace(line)
	if len(line) > maxLabel {
		return ""
	}
	return line
}
