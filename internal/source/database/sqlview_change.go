package database

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// CreateSQLView adds the SQL view that a body describes to a connection. Faults of the request are
// noted with those that were found before, and are all of them in the error.
func (c *Connections) CreateSQLView(ctx context.Context, workspace, connection feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.SQLView) (*feedmill.IdempotentResponse, error)) (feedmill.SQLView, error) {
	v := feedmill.SQLView{ID: feedmill.NewID(feedmill.PrefixSQLView), Workspace: workspace, Connection: connection, CreatedAt: now()}
	v.UpdatedAt = v.CreatedAt
	if f, ok := body.Need("name"); ok {
		v.Name = feedmill.ReadSQLViewName(f)
	}
	sql, err := readSQL(body, faults)
	if err != nil {
		return v, err
	}
	v.SQL = sql
	of, err := c.Store.Connection(ctx, workspace, connection)
	if err != nil {
		return v, err
	}
	if err := c.checkSQLView(ctx, of, &v, true); err != nil {
		return v, err
	}
	response, err := keep(v)
	if err != nil {
		return v, err
	}
	err = c.Store.CreateSQLView(ctx, v, feedmill.MaxSQLViews, response)
	if _, full := errors.AsType[*feedmill.QuotaError](err); full {
		return v, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "quota-reached", Transient: true,
			Detail: fmt.Sprintf("This connection already has %d SQL views (the maximum). Delete SQL views that you do not need.", feedmill.MaxSQLViews),
		}
	}
	if errors.Is(err, feedmill.ErrConflict) && !errors.Is(err, feedmill.ErrIdempotencyKeyUsed) && feedmill.HandleOf(ctx) == nil {
		return v, viewTaken("a SQL view")
	}
	return v, err
}

// readSQL reads the rest of a body.
func readSQL(body *strictjson.Object, faults *feedmill.Faults) (sql string, err error) {
	if f, ok := body.Need("sql"); ok {
		sql, _ = f.Text()
	}
	body.RefuseUnknown()
	return sql, faults.Refusal()
}

func viewTaken(by string) error {
	return &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "name-taken", Detail: "The connection already has " + by + " of this name. Choose another name.",
		Faults: []feedmill.Fault{{Pointer: "/name", Detail: "name is already used by " + by + "."}},
	}
}

// ChangeSQLView writes other SQL into a view.
func (c *Connections) ChangeSQLView(ctx context.Context, workspace, connection feedmill.ID, name string, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.SQLView) (*feedmill.IdempotentResponse, error)) (feedmill.SQLView, error) {
	if f, ok := body.Given("name"); ok {
		if text, ok := f.Text(); ok && text != name {
			f.Fault("name cannot be changed; it is " + name + ". Create another SQL view instead.")
		}
	}
	sql, err := readSQL(body, faults)
	if err != nil {
		return feedmill.SQLView{}, err
	}
	of, err := c.Store.Connection(ctx, workspace, connection)
	if err != nil {
		return feedmill.SQLView{}, err
	}
	v, err := c.Store.SQLView(ctx, workspace, connection, name)
	if err != nil {
		return v, err
	}
	v.SQL, v.UpdatedAt = sql, later(v.UpdatedAt)
	if err := c.checkSQLView(ctx, of, &v, false); err != nil {
		return v, err
	}
	response, err := keep(v)
	if err != nil {
		return v, err
	}
	return v, c.Store.ChangeSQLView(ctx, v, response)
}

// checkSQLView has the database of a connection check a SQL view, and notes its fields. The name of
// a new one must not be that of another view.
func (c *Connections) checkSQLView(ctx context.Context, of feedmill.Connection, v *feedmill.SQLView, isNew bool) error {
	if _, known := feedmill.FindConnector(of.Connector); !known {
		return &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "Only connections to databases have SQL views; " + of.ServiceName + " uses the connector " + of.Connector + "."}
	}
	err := c.whileAwaited(ctx, lookTimeout, func(ctx context.Context) error {
		return c.with(ctx, of, func(db Database) error {
			table, err := db.SQLTable(ctx, *v, feedmill.RulesCurrent)
			if err != nil {
				return err
			}
			v.Fields = nil
			for _, f := range table.Fields() {
				if len(f.Name) > feedmill.MaxSourceName {
					return WrongSQL(fmt.Sprintf("A column of sql has a name of %d bytes; the maximum is %d.", len(f.Name), feedmill.MaxSourceName), nil)
				}
				v.Fields = append(v.Fields, f.Name)
			}
			if !isNew {
				return nil
			}
			return isFree(ctx, db, v.Name)
		})
	})
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	switch {
	case !ok:
		return err
	case failure.Type == ProblemSQL:
		return &feedmill.Error{Kind: feedmill.ErrInvalid, Type: ProblemSQL, Title: failure.Title, Detail: failure.Detail, Faults: []feedmill.Fault{{Pointer: "/sql", Detail: failure.Detail}}}
	case failure.Type == ProblemUser:
		return &feedmill.Error{Kind: feedmill.ErrConflict, Type: ProblemUser, Title: failure.Title, Detail: failure.Detail}
	}
	return refusal(err)
}

// isFree refuses the name of a view of the database, also of one that is not listed, such as a
// partition.
func isFree(ctx context.Context, db Database, name string) error {
	views, err := db.Views(ctx)
	if err != nil {
		return err
	}
	taken := slices.ContainsFunc(views, func(other View) bool { return other.Name == name })
	if !taken {
		_, err := db.Table(ctx, name, feedmill.RulesCurrent)
		failure, ok := errors.AsType[*feedmill.SourceFailure](err)
		if ok && failure.Type != ProblemView || err != nil && !ok {
			return err
		}
		taken = err == nil
	}
	if taken {
		return viewTaken("a table or view of the database")
	}
	return nil
}

// DeleteSQLView deletes a SQL view that no feed uses.
func (c *Connections) DeleteSQLView(ctx context.Context, workspace, connection feedmill.ID, name string) error {
	v, err := c.Store.SQLView(ctx, workspace, connection, name)
	if err != nil {
		return err
	}
	users, err := c.Store.DeleteSQLView(ctx, v, func(spec []byte) bool { return usesView(spec, v.Name) })
	if errors.Is(err, feedmill.ErrConflict) && len(users) > 0 {
		return feedmill.InUse("Feeds are built from this SQL view", users, "Delete them or change their view first.")
	}
	return err
}

// usesView reports whether a definition names a view, also as one that it joins.
func usesView(spec []byte, view string) bool {
	doc, ok := strictjson.Read(spec, strictjson.Part{}, func(string, string) bool { return true })
	if !ok {
		return false
	}
	is := func(v *strictjson.Value) bool { return v != nil && v.Kind == '"' && v.Text() == view }
	if is(doc.Member("viewName")) {
		return true
	}
	joins := doc.At("/query/joins")
	return joins != nil && slices.ContainsFunc(joins.Items, func(join strictjson.Value) bool { return is(join.Member("view")) })
}
