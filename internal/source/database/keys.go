package database

import (
	"context"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// KeyedDatabase is a database that knows the keys of its tables.
type KeyedDatabase interface {
	// Keys returns the keys of a table.
	Keys(ctx context.Context, schema, name string) (Keys, error)
}

// Keys are those of a table.
type Keys struct {
	Primary []string
	Foreign []ForeignKey
}

// ForeignKey is fields that have the values of other fields, in the same order.
type ForeignKey struct {
	Fields     []string
	View       string // as [ViewName] writes it
	References []string
}

// NamedDatabase is a database that lists the names of the fields of all of its views.
type NamedDatabase interface {
	// FieldNames returns the names of the fields by the names of the views.
	FieldNames(ctx context.Context) (map[string][]string, error)
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
	names, err := c.fieldNames(ctx, workspace, service, anew)
	if err != nil {
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

// fieldNames are the names of the fields of a service by view, nil where it does not list them.
func (c *Connections) fieldNames(ctx context.Context, workspace feedmill.ID, service string, anew bool) (names map[string][]string, err error) {
	of, err := c.service(ctx, workspace, service)
	if err != nil {
		return nil, err
	}
	if names, ok := c.seen.names(of); ok && !anew {
		return names, nil
	}
	_, api := c.api(of.Connector)
	err = c.whileAwaited(ctx, lookTimeout, func(ctx context.Context) error {
		return c.withService(ctx, of, feedmill.Fetch{Workspace: workspace}, func(db Database) error {
			if viewed, ok := db.(*viewedDatabase); ok {
				db = viewed.Database
			}
			if lister, ok := db.(NamedDatabase); ok {
				names, err = lister.FieldNames(ctx)
				return err
			}
			return nil
		})
	})
	if err != nil {
		return nil, refusal(err)
	}
	if !api && names != nil {
		c.seen.keepNames(of, names)
	}
	return names, nil
}
