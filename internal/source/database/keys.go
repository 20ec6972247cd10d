package database

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// Keys are the primary key and the foreign keys of a table.
type Keys struct {
	Primary []string
	Foreign []ForeignKey
}

// ForeignKey is a list of fields that have the values of other fields, in the same order.
type ForeignKey struct {
	Fields     []string
	View       string // as [ViewName] writes it
	References []string
}

// mark notes on fields which of them are keys. Of several foreign keys of a field, the one with the
// fewest fields applies.
func (k Keys) mark(fields []feedmill.ServiceField) {
	foreign := slices.Clone(k.Foreign)
	slices.SortStableFunc(foreign, func(a, b ForeignKey) int { return len(a.Fields) - len(b.Fields) })
	for i := range fields {
		f := &fields[i]
		f.PrimaryKey = slices.Contains(k.Primary, f.Name)
		for _, key := range foreign {
			at := slices.Index(key.Fields, f.Name)
			if f.References == nil && at >= 0 && at < len(key.References) {
				f.References = &feedmill.FieldReference{View: key.View, Field: key.References[at]}
			}
		}
	}
}

// Keys returns none: feeds have no keys for joins.
func (d *feedDatabase) Keys(context.Context, string, string) (Keys, error) { return Keys{}, nil }

// FieldNames lists the names of the fields of the feeds.
func (d *feedDatabase) FieldNames(ctx context.Context) (map[string][]string, error) {
	names := make(map[string][]string)
	const step = 500
	for page := (feedmill.Page{Limit: step}); ; {
		feeds, err := d.feeds.Feeds(ctx, d.workspace, page)
		if err != nil {
			return nil, err
		}
		for _, f := range feeds {
			for _, c := range f.Columns {
				names[string(f.ID)] = append(names[string(f.ID)], c.Name)
			}
			page.Before = f.ID
		}
		if len(feeds) < step {
			return names, nil
		}
	}
}

// Search lists the views of a service of which the name, the label, the description or a field has a
// text in it, whatever its case, with the fields that have.
func (c *Connections) Search(ctx context.Context, workspace feedmill.ID, service, text string, anew bool) ([]feedmill.ServiceView, error) {
	views, err := c.Views(ctx, workspace, service, anew)
	if err != nil {
		return nil, err
	}
	of, err := c.service(ctx, workspace, service)
	if err != nil {
		return nil, err
	}
	names, err := c.fieldNames(ctx, of, anew)
	if err != nil {
		return nil, err
	}
	if names, err = c.withSQLFields(ctx, of, names); err != nil {
		return nil, err
	}
	text = strings.ToLower(text)
	var found []feedmill.ServiceView
	for _, v := range views {
		for _, name := range names[v.Name] {
			if strings.Contains(strings.ToLower(name), text) && len(v.MatchedFields) < maxMatchedFields {
				v.MatchedFields = append(v.MatchedFields, name)
			}
		}
		if len(v.MatchedFields) > 0 || strings.Contains(strings.ToLower(v.Name+"\x00"+v.Label+"\x00"+v.Description), text) {
			found = append(found, v)
		}
	}
	return found, nil
}

// maxMatchedFields is how many fields of a view are said to match.
const maxMatchedFields = 20

// fieldNames are the names of the fields of a service by view, without those of SQL views.
func (c *Connections) fieldNames(ctx context.Context, of feedmill.Connection, anew bool) (names map[string][]string, err error) {
	if names, ok := c.seen.names(of); ok && !anew {
		return names, nil
	}
	_, api := c.api(of.Connector)
	err = c.whileAwaited(ctx, lookTimeout, func(ctx context.Context) error {
		return c.withService(ctx, of, feedmill.Fetch{Workspace: of.Workspace}, func(db Database) error {
			names, err = db.FieldNames(ctx)
			return err
		})
	})
	if err != nil {
		return nil, refusal(err)
	}
	if !api {
		c.seen.keepNames(of, names)
	}
	return names, nil
}

// withSQLFields adds the fields of the SQL views of a connection to names.
func (c *Connections) withSQLFields(ctx context.Context, of feedmill.Connection, names map[string][]string) (map[string][]string, error) {
	if of.ID == "" {
		return names, nil
	}
	all, err := allSQLViews(ctx, c.Store, of)
	if err != nil || len(all) == 0 {
		return names, err
	}
	names = maps.Clone(names)
	for _, v := range all {
		names[v.Name] = v.Fields
	}
	return names, nil
}
