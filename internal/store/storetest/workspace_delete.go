package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// Deletions remove workspaces, a little at a time.
type Deletions interface {
	BeginDeletion(ctx context.Context, id feedmill.ID, at time.Time) (feedmill.Workspace, error)
	ClaimDeletions(ctx context.Context, holder string, lease time.Duration) ([]feedmill.Workspace, error)
	MeasureDeletion(ctx context.Context, id feedmill.ID) error
	CountDeleted(ctx context.Context, id feedmill.ID, holder string, n int64, lease time.Duration) error
	SubscriptionsToRemove(ctx context.Context, id feedmill.ID, limit int) ([]feedmill.Subscription, error)
	RemoveDeliveries(ctx context.Context, id feedmill.ID, after string, limit int) (next string, n int64, err error)
	RemoveRows(ctx context.Context, id feedmill.ID, holder string, late bool, limit int, lease time.Duration) (int64, error)
	RemovingFiles(ctx context.Context, id feedmill.ID, limit int) (names []string, left bool, err error)
	RemovedFiles(ctx context.Context, id feedmill.ID, holder string, names []string, lease time.Duration) error
	EndDeletion(ctx context.Context, id feedmill.ID, holder string) error
}

// RawStore is the database behind a store, with foreign keys and triggers off.
type RawStore struct {
	*sql.Conn
	// Columns lists the columns of each table that holds rows.
	Columns map[string][]RawColumn
	// Placeholder is how a statement writes its n-th value.
	Placeholder func(n int) string
}

// RawColumn is a column of a table and its type, in lower case.
type RawColumn struct{ Name, Type string }

// sharedTables hold no rows of workspaces.
var sharedTables = []string{
	"workspaces", "vault", "newest_moment", "schema_support", "schema_version", "store_identity", "pins", "paused", "processes", "process_points",
	"permits", "send_windows", "partition_days", "replicas", "slots",
}

// RunRemoval inserts rows of two workspaces into every table, deletes one of the workspaces, and
// compares all rows. A new table fails until the deletion covers it, or until it is one of
// sharedTables.
func RunRemoval(t *testing.T, s Store, raw RawStore) {
	ctx := t.Context()
	gone, stays := newWorkspace(t, s), newWorkspace(t, s)
	for n, w := range []feedmill.Workspace{gone, stays} {
		raw.fill(t, w.ID, n+1)
	}
	before := raw.dump(t)
	if _, err := s.BeginDeletion(ctx, gone.ID, now()); err != nil {
		t.Fatal(err)
	}
	remove(t, s, gone.ID, "a")
	_, err := s.WorkspaceByID(ctx, gone.ID)
	want(t, err, feedmill.ErrNotFound)
	var left []string
	for _, row := range before {
		if !strings.Contains(row, string(gone.ID)) {
			left = append(left, row)
		}
	}
	if diff := cmp.Diff(left, raw.dump(t)); diff != "" {
		t.Errorf("rows after the deletion (-want +got):\n%s", diff)
	}
	if len(left) < 30 {
		t.Errorf("only %d rows of the other workspace were compared", len(left))
	}
}

// remove takes all steps of a deletion.
func remove(t *testing.T, s Store, id feedmill.ID, holder string) {
	t.Helper()
	ctx := t.Context()
	claimed, err := s.ClaimDeletions(ctx, holder, time.Minute)
	must(t, err)
	if !slices.ContainsFunc(claimed, func(w feedmill.Workspace) bool { return w.ID == id }) {
		t.Fatalf("claimed %v", claimed)
	}
	must(t, s.MeasureDeletion(ctx, id))
	for after, turns := "", 0; ; turns++ {
		next, _, err := s.RemoveDeliveries(ctx, id, after, 3)
		must(t, err)
		if next == "" {
			break
		}
		if after = next; turns > 1000 {
			t.Fatal("the deliveries have no end")
		}
	}
	for n := int64(1); n > 0; {
		n, err = s.RemoveRows(ctx, id, holder, true, 2, time.Minute)
		must(t, err)
	}
	for {
		names, left, err := s.RemovingFiles(ctx, id, 2)
		must(t, err)
		if len(names) == 0 {
			if left {
				t.Fatal("files are left")
			}
			break
		}
		must(t, s.RemovedFiles(ctx, id, holder, names, time.Minute))
	}
	must(t, s.EndDeletion(ctx, id, holder))
}

// fill inserts a row of a workspace into each table.
func (raw RawStore) fill(t *testing.T, w feedmill.ID, n int) {
	t.Helper()
	event, delivery := string(feedmill.NewID(feedmill.PrefixEvent)), string(feedmill.NewID(feedmill.PrefixDelivery))
	named := func(name string) string { return name + "_" + string(w) }
	text := func(table, column string) string {
		switch table + "." + column {
		case "events.id":
			return event
		case "ended_deliveries.id", "attempts.delivery_id", "attempt_bodies.delivery_id":
			return delivery
		case "subscriptions.id":
			return named("subscription_id")
		case "keys.id", "rate_limits.subject":
			return named("key_id")
		case "objects.state":
			return "live"
		case "file_sums.file":
			return named("file_objects")
		}
		switch column {
		case "workspace_id", "home_id":
			return string(w)
		case "subscription_id", "key_id":
			return named(column)
		}
		return named(column + "_" + table)
	}
	for table, columns := range raw.Columns {
		if slices.Contains(sharedTables, table) {
			continue
		}
		var names, places []string
		var values []any
		for _, c := range columns {
			var v any
			switch kind, _, _ := strings.Cut(c.Type, "("); kind {
			case "text":
				v = text(table, c.Name)
			case "blob", "bytea":
				v = []byte(text(table, c.Name))
			case "integer", "bigint", "smallint":
				v = n
			case "boolean":
				v = false
			case "timestamp with time zone", "date":
				v = time.UnixMilli(int64(n)).UTC()
			case "array":
				v = "{}"
			default:
				t.Fatalf("%s.%s has the type %q, for which the test has no value", table, c.Name, c.Type)
			}
			names, places, values = append(names, c.Name), append(places, raw.Placeholder(len(places)+1)), append(values, v)
		}
		query := fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, table, strings.Join(names, ", "), strings.Join(places, ", "))
		if _, err := raw.ExecContext(t.Context(), query, values...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// dump returns all rows but those of sharedTables as text, sorted.
func (raw RawStore) dump(t *testing.T) (all []string) {
	t.Helper()
	for table, columns := range raw.Columns {
		if slices.Contains(sharedTables, table) {
			continue
		}
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		rows, err := raw.QueryContext(t.Context(), `SELECT `+strings.Join(names, ", ")+` FROM `+table)
		must(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			must(t, rows.Scan(values...))
			line := table
			for _, v := range values {
				v = *v.(*any)
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				line += fmt.Sprintf(" %v", v)
			}
			all = append(all, line)
		}
		must(t, rows.Err())
		rows.Close()
	}
	slices.Sort(all)
	return all
}

var deletionCases = []testCase{
	{name: "a deletion is claimed by one replica, which another one replaces", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		if claimed, err := s.ClaimDeletions(ctx, "a", time.Minute); err != nil || len(claimed) > 0 {
			t.Fatalf("claimed %v, %v", claimed, err)
		}
		begun, err := s.BeginDeletion(ctx, w.ID, now())
		must(t, err)
		if begun.Deleting == nil {
			t.Fatal("the workspace is not being deleted")
		}
		again, err := s.BeginDeletion(ctx, w.ID, now().Add(time.Hour))
		must(t, err)
		if !again.Deleting.Since.Equal(begun.Deleting.Since) {
			t.Error("a second request begins the deletion again")
		}
		claimed, err := s.ClaimDeletions(ctx, "a", time.Minute)
		must(t, err)
		if len(claimed) != 1 || claimed[0].ID != w.ID {
			t.Fatalf("claimed %v", claimed)
		}
		if claimed, err := s.ClaimDeletions(ctx, "b", time.Minute); err != nil || len(claimed) > 0 {
			t.Fatalf("another replica claimed %v, %v", claimed, err)
		}
		must(t, s.CountDeleted(ctx, w.ID, "a", 3, 0))
		claimed, err = s.ClaimDeletions(ctx, "b", time.Minute) // as the lease of a has ended
		must(t, err)
		if len(claimed) != 1 || claimed[0].Deleting.Done != 3 {
			t.Fatalf("claimed %+v", claimed)
		}
		want(t, s.CountDeleted(ctx, w.ID, "a", 1, time.Minute), feedmill.ErrConflict)
		want(t, s.EndDeletion(ctx, w.ID, "a"), feedmill.ErrConflict)
		remove(t, s, w.ID, "b")
		_, err = s.WorkspaceByID(ctx, other.ID)
		must(t, err)
		want(t, s.EndDeletion(ctx, other.ID, "b"), feedmill.ErrConflict)
	}},
	{name: "sessions return to their own workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, home := newWorkspace(t, s), newWorkspace(t, s)
		key := newKey(home.ID)
		must(t, s.CreateKey(ctx, key, nil))
		session := feedmill.Session{ID: feedmill.NewID(feedmill.PrefixSession), Workspace: w.ID, Key: key.ID, Token: feedmill.HashKey("token"), CreatedAt: now(), RotatedAt: now(), SeenAt: now()}
		must(t, s.CreateSession(ctx, session))
		_, err := s.BeginDeletion(ctx, w.ID, now())
		must(t, err)
		remove(t, s, w.ID, "a")
		found, err := s.SessionByToken(ctx, session.Token)
		must(t, err)
		if found.Workspace != home.ID {
			t.Errorf("the session is in %s", found.Workspace)
		}
	}},
}
