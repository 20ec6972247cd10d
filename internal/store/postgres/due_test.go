package postgres

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// To go through the heads of many resources page by page costs what there are of
// them, and not that for each page.
func TestHeadsArePassedOnce(t *testing.T) {
	resources := int64(3000)
	if os.Getenv("FEEDMILL_LONG") != "" {
		resources = 300_000
	}
	const page = 100
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	if _, err := db.pool.Exec(t.Context(), `INSERT INTO open_deliveries (`+commonColumns+`, due_at, slot, apart)
		SELECT 'dlv_' || n, $2, $3, 'evt_1', n, 'metric.created', 'r' || n % $1, 'pending', '', 0, 10, now(), 0, false
		FROM generate_series(1, 2 * $1) n`, resources, sub.Workspace, sub.ID); err != nil {
		t.Fatal(err)
	}
	openWorkReadsLittle(t, db, 2*resources)
	before := rowsRead(t, db)["open_deliveries_heads"]
	seen, after := int64(0), ""
	for {
		rows, err := db.rows(t.Context(), dueNextHeads, sub.ID, time.Now(), page, after)
		found, err := all(rows, err, scanDelivery)
		if err != nil {
			t.Fatal(err)
		}
		if seen += int64(len(found)); len(found) < page {
			break
		}
		after = found[page-1].ResourceID
	}
	read := rowsRead(t, db)["open_deliveries_heads"] - before
	if seen != resources || read > 3*resources {
		t.Errorf("%d heads of %d resources were found, and %d rows read for them", seen, resources, read)
	}
}

// openWorkReadsLittle has so many open deliveries of one subscription counted, which
// reads each once as far as they are counted, and of the subscription the oldest.
func openWorkReadsLittle(t *testing.T, db *DB, open int64) {
	t.Helper()
	before := rowsRead(t, db)
	counted := min(open, feedmill.MaxCountedBacklog)
	if n, oldest, err := db.OpenWork(t.Context(), time.Now()); err != nil || n != counted || oldest.IsZero() {
		t.Fatalf("%d deliveries are open, the oldest due at %v (%v), want %d", n, oldest, err, counted)
	}
	read := int64(0)
	for name, n := range rowsRead(t, db) {
		if strings.HasPrefix(name, "open_deliveries") && !strings.HasSuffix(name, " in pages") {
			read += n - before[name]
		}
	}
	if read > counted+10 {
		t.Errorf("%d rows were read to count %d open deliveries", read, counted)
	}
}
