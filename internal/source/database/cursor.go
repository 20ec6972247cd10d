package database

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// MaxNullCursors is how many rows without a value of the incremental field a refresh
// fetches, for a feed with a key.
const MaxNullCursors = 100_000

// resume prepares the query for the rows since the last fetch. An API is asked for the
// records since then and may send those without a value as well; a database sends them
// where they are asked for.
func (d *definition) resume(ctx context.Context, feeds Feeds, table Table, f feedmill.Fetch, from string, isAPI bool) (warnings []feedmill.Warning, err error) {
	since := d.query.Since
	if since == nil {
		return nil, nil
	}
	since.From = from
	if from == "" || len(f.Feeds) == 0 {
		return nil, nil
	}
	field, ok := d.field(table, since.Field)
	if !ok {
		return nil, nil // resolving it says what is wrong
	}
	if isAhead(field.Type, from, f.Now) {
		if since.From, err = d.latestStored(ctx, feeds, f.Feeds[0], f.Now); err != nil {
			return nil, err
		}
		warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnCursorAhead, Column: since.Field, Count: 1, Detail: fmt.Sprintf(
			"The stored position %s is more than 24 hours ahead, so newer rows were not fetched. It was computed again from the stored rows.", from)})
	}
	d.keyed = len(f.Feeds[0].Key) > 0 && f.Rules >= feedmill.RulesCurrent
	since.Nulls = isAPI || field.Nullable && d.keyed
	return warnings, nil
}

// mostNulls is how many rows without a value of the incremental field are wanted; see
// [query.Tree.MostNulls].
func (d *definition) mostNulls() int64 {
	switch since := d.query.Since; {
	case since == nil || since.From == "" || !since.Nulls:
		return 0
	case d.keyed:
		return MaxNullCursors
	}
	return -1
}

// openDecimals is what becomes of decimals with more digits than a column has. The key and
// the field of incremental tell values apart, so that they never become numbers.
func openDecimals(tree *query.Tree, feed feedmill.Feed, rules feedmill.Rules) query.OpenDecimals {
	open := query.OpenDecimals{Lossy: rules < feedmill.RulesCurrent, Stored: make(map[string]columnar.Type)}
	for i, u := range usages(tree, keyOutputs(feed)) {
		if u.exact {
			open.Exact = append(open.Exact, i)
		}
	}
	for _, c := range feed.Columns {
		if !c.Fixed {
			open.Stored[c.SourceName] = c.Type
		}
	}
	return open
}

func (d *definition) field(table Table, name string) (Field, bool) {
	fields := table.Fields()
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return fields[i], true
}

// isAhead reports whether a stored position of a time lies too far ahead.
func isAhead(t columnar.Type, position string, now time.Time) bool {
	layout := map[columnar.Type]string{columnar.TypeDate: time.DateOnly, columnar.TypeTimestamp: time.RFC3339Nano}[t]
	at, err := time.Parse(layout, position)
	return layout != "" && err == nil && at.After(now.Add(query.MaxAhead))
}

// latestStored is the greatest value of the incremental field in the rows that a feed
// has, of those that are not too far ahead. It is empty where there is none.
func (d *definition) latestStored(ctx context.Context, feeds Feeds, feed feedmill.Feed, now time.Time) (string, error) {
	name := d.query.Since.Field
	for _, f := range d.query.Fields {
		if f.Name == name && f.As != "" {
			name = f.As
		}
	}
	i := slices.IndexFunc(feed.Columns, func(c feedmill.Column) bool { return c.SourceName == name })
	if i < 0 || feed.Version == 0 || feed.Columns[i].Type != columnar.TypeDate && feed.Columns[i].Type != columnar.TypeTimestamp {
		return "", nil
	}
	column, last := feed.Columns[i], now.Add(query.MaxAhead).UTC()
	bound := last.Format(time.RFC3339Nano)
	if column.Type == columnar.TypeDate {
		bound = last.Format(time.DateOnly)
	}
	tree, faults := query.Resolve(feedmill.Query{
		Fields: []feedmill.Field{{Name: column.Name, Aggregate: feedmill.AggregateMax}},
		Where:  []feedmill.Condition{{Name: column.Name, Filters: []feedmill.Filter{{Op: feedmill.OpLte, Values: []feedmill.FilterValue{{Text: bound}}}}}},
	}, feed.Columns)
	if err := faults.Err(); err != nil {
		return "", err
	}
	latest := ""
	for run, err := range feeds.Select(ctx, []feedmill.Feed{feed}, tree) {
		if err != nil {
			return "", err
		}
		if run[0].Len > 0 && !run[0].Null(0) {
			latest = valueText(&run[0], 0)
		}
	}
	return latest, nil
}

// countNulls counts the rows without a value of the incremental field that pass the
// filters, where the fetch leaves them out.
func (d *definition) countNulls(ctx context.Context, table Table, columns []feedmill.Column) (int64, error) {
	since := d.query.Since
	if since == nil || since.From == "" || since.Nulls {
		return 0, nil
	}
	if field, ok := d.field(table, since.Field); !ok || !field.Nullable {
		return 0, nil
	}
	q := d.query
	q.Fields, q.Sort, q.Since, q.Limit, q.Offset = []feedmill.Field{{Name: since.Field}}, nil, nil, 0, 0
	q.Where = append(slices.Clone(q.Where), feedmill.Condition{Name: since.Field, Filters: []feedmill.Filter{{Op: feedmill.OpIsNull}}})
	tree, faults := query.Resolve(q, columns)
	if err := faults.Err(); err != nil {
		return 0, err
	}
	done, err := Run(ctx, table, tree, nowhere{})
	return done.Rows, err
}

// nowhere takes rows that are only counted.
type nowhere struct{}

func (nowhere) Columns(context.Context, []feedmill.Column) error { return nil }

func (nowhere) Rows(context.Context, []columnar.Vector) error { return nil }

// cursorWarnings are what there is to say of rows that do not tell what is new.
func (d *definition) cursorWarnings(done Done, counted int64) (warnings []feedmill.Warning) {
	if n := done.Nulls + counted; n > 0 {
		field := d.query.Since.Field
		detail := fmt.Sprintf("%d rows have no value of %s, so it is unknown which of them are new. They are stored.", n, field)
		switch {
		case d.query.Since.From == "":
		case counted > 0 || !d.keyed:
			detail = fmt.Sprintf("%d rows have no value of %s, so it is unknown which of them are new. They were counted and not fetched. Set key to fetch them at every refresh, or fill the field at the source. A feed of an earlier release also needs rules 2.", n, field)
		case n > MaxNullCursors:
			detail = fmt.Sprintf("%d rows have no value of %s, so it is unknown which of them are new. A refresh fetches %d of them, the maximum; the others were only counted. Fill the field at the source.", n, field, MaxNullCursors)
		default:
			detail = fmt.Sprintf("%d rows have no value of %s, so it is unknown which of them are new. They are fetched at every refresh.", n, field)
		}
		warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnNullCursor, Column: field, Count: n, Detail: detail})
	}
	if done.Ahead > 0 {
		field := d.query.Since.Field
		warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnCursorAhead, Column: field, Count: done.Ahead, Detail: fmt.Sprintf(
			"%d rows have a value of %s that is more than 24 hours ahead. They are stored, but the next refresh does not start from them.", done.Ahead, field)})
	}
	return warnings
}
