package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Change changes a connection: members of config take the place of the old ones.
func (c *Connections) Change(ctx context.Context, workspace, id feedmill.ID, body *strictjson.Object, faults *feedmill.Faults) (feedmill.Connection, error) {
	before, err := c.Store.Connection(ctx, workspace, id)
	if err != nil {
		return feedmill.Connection{}, err
	}
	changed, err := c.changed(ctx, before, body)
	if err != nil {
		return feedmill.Connection{}, err
	}
	body.RefuseUnknown()
	if err := faults.Refusal(); err != nil {
		return feedmill.Connection{}, err
	}
	if changed.ServiceName == feedmill.ServiceFeeds {
		return feedmill.Connection{}, nameTaken(changed.ServiceName)
	}
	after, err := c.Store.ChangeConnection(ctx, workspace, id, func(kept *feedmill.Connection, users []feedmill.FeedReference) error {
		if !bytes.Equal(kept.Config, before.Config) || !bytes.Equal(kept.Secrets, before.Secrets) {
			return &feedmill.Error{Kind: feedmill.ErrConflict, Type: "concurrent-change", Transient: true, Detail: "The connection was changed by another request. Fetch it again and retry with its new ETag."}
		}
		if changed.ServiceName != kept.ServiceName && len(users) > 0 {
			return feedmill.InUse("The name of a service cannot be changed while feeds are built from it", users, freeConnection)
		}
		*kept = changed
		return nil
	})
	if errors.Is(err, feedmill.ErrConflict) {
		if _, told := errors.AsType[*feedmill.Error](err); !told {
			err = nameTaken(changed.ServiceName)
		}
	}
	return after, err
}

// changed is a connection as a body says that it is to be. What is wrong with the
// body is noted.
func (c *Connections) changed(ctx context.Context, of feedmill.Connection, body *strictjson.Object) (feedmill.Connection, error) {
	if f, ok := body.Get("serviceName"); ok {
		of.ServiceName = feedmill.ReadServiceName(f)
	}
	if f, ok := body.Get("connector"); ok {
		if name, ok := f.Text(); ok && name != of.Connector {
			f.Fault("connector cannot be changed; it is " + of.Connector + ". Create another connection instead.")
		}
	}
	f, ok := body.Get("config")
	o, ok := object(f, ok)
	if !ok {
		of.UpdatedAt = later(of.UpdatedAt)
		return of, nil
	}
	kind, known := c.connector(of.Connector)
	if !known {
		return of, fmt.Errorf("a connection has the connector %q", of.Connector)
	}
	before, err := c.config(ctx, of)
	if err != nil {
		return of, err
	}
	config := kind.Read(o, before)
	c.checkPlace(kind, config, o)
	of.UpdatedAt = later(of.UpdatedAt)
	return of, c.keep(&of, kind, config)
}

// later is the present, and in any case after a time: who has a database open
// knows by it that the connection is another.
func later(before time.Time) time.Time {
	at := now()
	if !at.After(before) {
		at = before.Add(time.Millisecond)
	}
	return at
}

// freeConnection is how a connection is no longer used by feeds.
const freeConnection = "Delete them or change their service first."

// Delete deletes a connection that no feed uses.
func (c *Connections) Delete(ctx context.Context, workspace, id feedmill.ID) error {
	revoke, err := c.revocation(ctx, workspace, id)
	if err != nil {
		return err
	}
	users, err := c.Store.DeleteConnection(ctx, workspace, id)
	if errors.Is(err, feedmill.ErrConflict) && len(users) > 0 {
		return feedmill.InUse("Feeds are built from this connection", users, freeConnection)
	}
	if err == nil {
		c.open.forget(id)
		c.seen.forget(id)
		revoke()
	}
	return err
}

// Test tries a connection. That it does not work is no error.
func (c *Connections) Test(ctx context.Context, workspace, id feedmill.ID) (t feedmill.ConnectionTest, err error) {
	of, err := c.Store.Connection(ctx, workspace, id)
	if err != nil {
		return t, err
	}
	err = c.whileAwaited(ctx, testTimeout, func(ctx context.Context) error {
		began := time.Now()
		ping := func(db Database) error { return db.Ping(ctx) }
		with := c.afresh
		if a, ok := c.api(of.Connector); ok {
			with = func(ctx context.Context, of feedmill.Connection, do func(Database) error) error {
				return c.withAPI(ctx, a, of, feedmill.Fetch{Workspace: workspace, Once: true}, do)
			}
		}
		err := with(ctx, of, ping)
		t.Duration = time.Since(began)
		return err
	})
	failure, failed := errors.AsType[*feedmill.SourceFailure](err)
	switch {
	case err == nil:
		t.OK, t.Detail = true, "The database responds."
	case failed:
		t.Detail, err = failure.Detail, nil
	}
	return t, err
}

// whileAwaited does something that somebody waits for, in a place of the workspace's and
// not for too long.
func (c *Connections) whileAwaited(ctx context.Context, longest time.Duration, do func(context.Context) error) error {
	giveBack, err := c.looks.Take(ctx)
	if errors.Is(err, share.ErrCrowded) {
		return &feedmill.Error{
			Kind: feedmill.ErrTooMany, RetryAfter: 5 * time.Second,
			Detail: fmt.Sprintf("This workspace already has %d requests waiting for databases (the maximum). Retry after the time in the Retry-After header.", looksWaiting),
		}
	}
	if err != nil {
		return err
	}
	defer giveBack()
	slow := Fail(ProblemTimeout, "The database did not respond within "+feedmill.FormatDuration(longest)+".", nil)
	inTime, cancel := context.WithTimeoutCause(ctx, longest, slow)
	defer cancel()
	err = do(inTime)
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		return slow
	}
	return err
}
