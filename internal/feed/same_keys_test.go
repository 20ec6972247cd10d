package feed

import (
	"errors"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// TestSameKeys holds which changes of a key of two columns are refused.
func TestSameKeys(t *testing.T) {
	const integer, decimal, number, text = columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber, columnar.TypeText
	for name, test := range map[string]struct {
		change  func(l *loading, now []feedmill.Column)
		refused bool
	}{
		"nothing":              {func(*loading, []feedmill.Column) {}, false},
		"the first column":     {func(_ *loading, now []feedmill.Column) { now[0].Type = text }, true},
		"the second column":    {func(_ *loading, now []feedmill.Column) { now[1].Type = integer }, true},
		"a column of no key":   {func(_ *loading, now []feedmill.Column) { now[2].Type = text }, false},
		"the same order":       {func(_ *loading, now []feedmill.Column) { now[0].Type = decimal }, false},
		"a loss of digits":     {func(_ *loading, now []feedmill.Column) { now[0].Type = number }, true},
		"a type that was set":  {func(_ *loading, now []feedmill.Column) { now[1].Type, now[1].Fixed = integer, true }, false},
		"another type set":     {func(_ *loading, now []feedmill.Column) { now[1].Type, now[0].Fixed = integer, true }, true},
		"a type to come":       {func(l *loading, now []feedmill.Column) { now[1].Type, l.before.Columns[1].Retype = integer, integer }, false},
		"another type to come": {func(l *loading, now []feedmill.Column) { now[1].Type, l.before.Columns[0].Retype = integer, text }, true},
		"a new column":         {func(_ *loading, now []feedmill.Column) { now[1].Type, now[1].ID = integer, "col_9" }, false},
		"the name of the data": {func(l *loading, now []feedmill.Column) {
			l.key[1], now[1].SourceName, now[1].Type = "Line", "Line", integer
		}, true},
		"the first version":     {func(l *loading, now []feedmill.Column) { l.before.Version, now[1].Type = 0, integer }, false},
		"the first rules":       {func(l *loading, now []feedmill.Column) { l.before.Rules, now[1].Type = feedmill.RulesFirst, integer }, false},
		"accepted by a request": {func(l *loading, now []feedmill.Column) { l.accept, now[1].Type = true, integer }, false},
		"accepted by a refresh": {func(l *loading, now []feedmill.Column) { l.before.Expects.Accept, now[1].Type = true, integer }, false},
	} {
		columns := func() []feedmill.Column {
			return []feedmill.Column{{ID: "col_1", Name: "part", Type: integer}, {ID: "col_2", Name: "line", Type: text}, {ID: "col_3", Name: "n", Type: integer}}
		}
		now := columns()
		l := &loading{before: feedmill.Feed{Version: 1, Rules: feedmill.RulesCurrent, Columns: columns()}, key: []string{"part", "line"}}
		test.change(l, now)
		err := l.wantSameKeys(now)
		refusal, ok := errors.AsType[*feedmill.Error](err)
		if test.refused != (err != nil) || test.refused && (!ok || refusal.Type != feedmill.ProblemTypeChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
