package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// partitioned are the tables that have a partition for each day, and the prefix
// of the ids that divide them.
var partitioned = []struct{ table, prefix string }{
	{"attempt_bodies", feedmill.PrefixDelivery},
	{"attempts", feedmill.PrefixDelivery},
	{"ended_deliveries", feedmill.PrefixDelivery},
	{"events", feedmill.PrefixEvent},
}

// Partitions are made for yesterday and for some days ahead: for tomorrow when
// the store is opened, and for a week by every [DB.Prune]. A day beyond is made
// when the first record needs it.
const (
	daysAheadAtOpen = 1
	daysAhead       = 7
)

// aDay is the time that a partition covers. Days begin at midnight in UTC.
const aDay = 24 * time.Hour

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(aDay) }

func partitionName(table string, day time.Time) string {
	return table + "_" + day.Format("20060102")
}

// days remembers for which days this process knows partitions to be there.
type days struct {
	mu    sync.Mutex
	known map[time.Time]bool
}

// missing returns those of the days that are not known.
func (d *days) missing(wanted []time.Time) (unknown []time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, day := range wanted {
		if !d.known[day] {
			unknown = append(unknown, day)
		}
	}
	return unknown
}

func (d *days) add(known []time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = make(map[time.Time]bool)
	}
	for _, day := range known {
		d.known[day] = true
	}
}

func (d *days) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.known)
}

// preparePartitions makes the partitions from yesterday until some days ahead, of
// days that are not wholly before the time given.
func (db *DB) preparePartitions(ctx context.Context, now, before time.Time, ahead int) error {
	var wanted []time.Time
	for i := -1; i <= ahead; i++ {
		if day := dayOf(now).AddDate(0, 0, i); day.Add(aDay).After(before) {
			wanted = append(wanted, day)
		}
	}
	db.days.forget()
	return db.ensurePartitions(ctx, wanted)
}

// withPartitions calls do once there are partitions for all the ids. Where another
// replica has dropped one meanwhile, it makes them and calls do again, and so it does
// where this process stood still for so long that the server ended the transaction.
func (db *DB) withPartitions(ctx context.Context, ids []feedmill.ID, do func() error) error {
	var wanted []time.Time
	for _, id := range ids {
		if day := dayOf(id.Time()); !slices.Contains(wanted, day) {
			wanted = append(wanted, day)
		}
	}
	if err := db.ensurePartitions(ctx, wanted); err != nil {
		return err
	}
	err := do()
	if !hasCode(err, checkViolation) && !hasCode(err, waitedForClient) {
		return err
	}
	db.days.forget()
	if err := db.ensurePartitions(ctx, wanted); err != nil {
		return err
	}
	return do()
}

func (db *DB) ensurePartitions(ctx context.Context, wanted []time.Time) error {
	wanted = db.days.missing(wanted)
	if len(wanted) == 0 {
		return nil
	}
	there, err := db.knownDays(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(wanted, func(day time.Time) bool { return !slices.Contains(there, day) }) {
		if err := db.createPartitions(ctx, wanted); err != nil {
			return err
		}
	}
	db.days.add(wanted)
	return nil
}

func (db *DB) knownDays(ctx context.Context) ([]time.Time, error) {
	rows, err := db.rows(ctx, `SELECT day FROM partition_days ORDER BY day`)
	return all(rows, err, scanDay)
}

// createPartitions makes the partitions that are not there, under the lock that
// migrations take, so that replicas never make the same one twice. A table is
// attached rather than made as a partition, because that does not wait for
// those who read and write, nor make them wait.
func (db *DB) createPartitions(ctx context.Context, wanted []time.Time) error {
	return db.write(ctx, func(tx tx) error {
		if _, err := tx.exec(ctx, `SELECT version FROM schema_version FOR UPDATE`); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `INSERT INTO partition_days (day) SELECT unnest($1::date[]) ON CONFLICT DO NOTHING RETURNING day`, wanted)
		fresh, err := all(rows, translate(err), scanDay)
		if err != nil {
			return err
		}
		var statements strings.Builder
		for _, day := range fresh {
			writePartitions(&statements, day)
		}
		_, err = tx.exec(ctx, statements.String())
		return err
	})
}

// writePartitions writes the statements that create the partitions of a day.
func writePartitions(to *strings.Builder, day time.Time) {
	for _, p := range partitioned {
		name := partitionName(p.table, day)
		fmt.Fprintf(to, `CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS);
			ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s');`, name, p.table, p.table, name,
			feedmill.FirstID(p.prefix, day), feedmill.FirstID(p.prefix, day.Add(aDay)))
	}
}

// partitionIDs are ids of all the days of which events and their deliveries need
// partitions.
func partitionIDs(events []feedmill.Event) []feedmill.ID {
	ids := []feedmill.ID{feedmill.FirstID(feedmill.PrefixDelivery, time.Now())}
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}
