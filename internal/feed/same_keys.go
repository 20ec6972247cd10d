package feed

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// wantKept refuses columns that are not those of a feed whose columns are frozen, and
// keys that are not compared as they were.
func (l *loading) wantKept(columns []feedmill.Column) error {
	if err := l.wantFrozen(columns); err != nil {
		return err
	}
	return l.wantSameKeys(columns)
}

// wantSameKeys refuses key columns of another order or equality: rows that have the same
// key would no longer be known as the same. A type that a user has set is taken, and
// so are the keys of feeds under the first rules.
func (l *loading) wantSameKeys(columns []feedmill.Column) error {
	if l.before.Version == 0 || l.before.Rules < feedmill.RulesCurrent || l.accept || l.before.Expects.Accept {
		return nil
	}
	for _, name := range keyColumns(l.key, columns) {
		i := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.Name == name })
		if i < 0 || columns[i].Fixed {
			continue
		}
		at := slices.IndexFunc(l.before.Columns, func(had feedmill.Column) bool { return had.ID == columns[i].ID })
		if at < 0 || l.before.Columns[at].Retype != "" {
			continue
		}
		was, now := l.before.Columns[at].Type, columns[i].Type
		if was == now || feedmill.KeepsOrder(was, now) && now != columnar.TypeNumber {
			continue
		}
		return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: feedmill.ProblemTypeChanged, Title: "The type of a key column changed", Detail: fmt.Sprintf(
			"Key column %q is %s, but the data has %s values in it, so rows with the same key would no longer match. The feed keeps its previous version. Fix the values, or send accept=true to accept the new type.", name, was, now)}
	}
	return nil
}

// keyWarnings warn of key columns that become text although they have fractions: the digits of a stored
// decimal need not be the characters that the source writes.
func (l *loading) keyWarnings(columns []feedmill.Column) (warnings []feedmill.Warning) {
	if l.mode != feedmill.ModeMerge {
		return nil
	}
	for _, name := range keyColumns(l.key, columns) {
		i := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.Name == name })
		if i < 0 || columns[i].Type != columnar.TypeText {
			continue
		}
		at := slices.IndexFunc(l.before.Columns, func(had feedmill.Column) bool { return had.ID == columns[i].ID })
		if at < 0 || l.before.Columns[at].Type != columnar.TypeDecimal || l.before.Columns[at].Scale == 0 {
			continue
		}
		scale := l.before.Columns[at].Scale
		warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnKeyText, Column: name, Count: 1, Detail: fmt.Sprintf(
			"The key column became text. Stored keys have %d decimal places (%.*f), so rows with differently written keys (1.5) are not merged with them. Replace all rows (mode=replace) to fix this.", scale, scale, 1.5)})
	}
	return warnings
}
