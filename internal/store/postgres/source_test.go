package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/record"
)

// planned adds as many sources as asked for, each due an hour after the one
// before from the first time on.
func planned(t *testing.T, db *DB, w feedmill.ID, n int, first time.Time) {
	t.Helper()
	var b pgx.Batch
	for i := range n {
		s := feedmill.Source{
			ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: w, Type: feedmill.FeedREST, Host: fmt.Sprint(i),
			DueAt: first.Add(time.Duration(i) * time.Hour), CreatedAt: first, UpdatedAt: first,
		}
		b.Queue(`INSERT INTO sources (`+record.SourceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`, record.Source(&s, kinds{})...)
	}
	if err := db.pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDueSourcesReadsWhatIsDue holds that sources which are not due are not
// looked at, however many there are, known to the planner or not.
func TestDueSourcesReadsWhatIsDue(t *testing.T) {
	db, now := open(t, pgtest.New(t)), time.Now()
	w := subscribed(t, db).Workspace
	planned(t, db, w, 2000, now.Add(-3*time.Hour-time.Minute))
	for _, analyze := range []bool{false, true} {
		if analyze {
			if _, err := db.pool.Exec(t.Context(), `ANALYZE sources`); err != nil {
				t.Fatal(err)
			}
		}
		due, err := db.DueSources(t.Context(), now, 1, 100)
		if err != nil || len(due) != 4 {
			t.Fatalf("%d are due, %v", len(due), err)
		}
		steps := explained(t, db, dueSources, now, 1, 100)
		if !strings.Contains(steps, "sources_due") || strings.Contains(steps, "Seq Scan") {
			t.Errorf("analyzed %v: the plan does without the index:\n%s", analyze, steps)
		}
		if strings.Contains(steps, "Rows Removed by Filter") {
			t.Errorf("analyzed %v: more is read than is due:\n%s", analyze, steps)
		}
	}
}

// explained is how the connections for statements that are called all the time
// run a query.
func explained(t *testing.T, db *DB, query string, args ...any) string {
	t.Helper()
	rows, err := db.steady.Query(t.Context(), `EXPLAIN (ANALYZE, TIMING off, SUMMARY off) `+query, args...)
	steps, err := all(rows, err, func(row record.Row) (step string, err error) {
		err = row.Scan(&step)
		return step, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// TestSourceChangeMakesRoom changes a source with an event on a day that nobody
// has made room for. The change is called again, with what there was before it.
func TestSourceChangeMakesRoom(t *testing.T) {
	db, at := open(t, pgtest.New(t)), time.Now()
	w := subscribed(t, db).Workspace
	s := feedmill.Source{ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: w, Type: feedmill.FeedREST, CreatedAt: at, UpdatedAt: at}
	f := feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: w, Source: s.ID, Type: feedmill.FeedREST, CreatedAt: at, UpdatedAt: at}
	if err := db.CreateFeed(t.Context(), feedmill.NewFeed{Feed: f, Source: &s}, nil, nil); err != nil {
		t.Fatal(err)
	}
	later := at.AddDate(0, 0, 30)
	e := feedmill.Event{
		ID: feedmill.FirstID(feedmill.PrefixEvent, later), Workspace: w, Type: "datafeed.source.updated", Timestamp: later, Payload: []byte("{}"),
	}
	calls := 0
	err := db.ChangeSource(t.Context(), w, s.ID, func(c *feedmill.SourceChange) error {
		calls++
		c.Source.Run++
		c.Feeds[0].Failures++
		c.Events = append(c.Events, e)
		return nil
	})
	if err != nil || calls < 2 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	source, err := db.Source(t.Context(), w, s.ID)
	if err != nil || source.Run != 1 {
		t.Errorf("the run is %d, %v", source.Run, err)
	}
	feed, err := db.Feed(t.Context(), w, f.ID)
	if err != nil || feed.Failures != 1 {
		t.Errorf("the failures are %d, %v", feed.Failures, err)
	}
	if _, err := db.Event(t.Context(), w, e.ID); err != nil {
		t.Error(err)
	}
}
