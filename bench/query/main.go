// Command query measures how fast a table of a database becomes a feed: from the
// request until the feed is ready, against the export of the same table to a file
// by the database's own client.
//
// Feedmill is the real program, and so are the servers, which are private ones on
// the loopback interface. The exports are psql's \copy, what mariadb prints with
// --batch --quick, and CSV of sqlite3, each written to a file. They write text,
// without a look at it; Feedmill writes columns, compressed and synced.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

type options struct {
	rig.Options
	rounds, rows int
	only         string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each figure; the median counts")
	flag.IntVar(&o.rows, "rows", 1_000_000, "rows of the table")
	flag.StringVar(&o.only, "only", "", "only the databases whose names hold one of these, separated by commas: postgres, mysql, sqlite")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) })
}

// source is a database with the table.
type source struct {
	connector string
	config    map[string]any
	// export is the command that writes the table to a file.
	export func(ctx context.Context, file string) *exec.Cmd
	close  func()
}

// maxMemory is what Feedmill and its workers may hold meanwhile.
const maxMemory = 300 << 20

func run(ctx context.Context, r *rig.Rig, o options) error {
	for _, figure := range []struct {
		name   string
		target float64
		open   func(context.Context, *rig.Rig, int) (*source, error)
	}{{"postgres", 0.9, openPostgres}, {"mysql", 0.6, openMariaDB}, {"sqlite", 0.6, openSQLite}} {
		if !rig.Chosen(o.only, figure.name) {
			continue
		}
		s, err := figure.open(ctx, r, o.rows)
		if err != nil {
			return fmt.Errorf("%s: %w", figure.name, err)
		}
		err = measure(ctx, r, o, figure.name, figure.target, s)
		s.close()
		if err != nil {
			return fmt.Errorf("%s: %w", figure.name, err)
		}
	}
	return nil
}

func measure(ctx context.Context, r *rig.Rig, o options, name string, target float64, s *source) error {
	var ratios, byCPU []float64
	var memory []int
	for range o.rounds {
		exported, err := s.exportAll(ctx, r)
		if err != nil {
			return err
		}
		made, peak, err := feedOf(ctx, r, s, o.rows)
		if err != nil {
			return err
		}
		fmt.Printf("  export %v   feed %v, %d MB of memory at most, of which %d MB are its own\n", exported, made, peak.Total>>20, peak.Anon>>20)
		ratios = append(ratios, exported.wall.Seconds()/made.wall.Seconds())
		byCPU = append(byCPU, exported.cpu.Seconds()/made.cpu.Seconds())
		memory = append(memory, peak.Total)
	}
	fmt.Printf("%-40s median %.2f of the export's throughput (target: at least %.2f), %.2f by CPU time of the clients, %d MB of memory (target: below %d)\n",
		fmt.Sprintf("%d rows of %s", o.rows, name), rig.Median(ratios), target, rig.Median(byCPU), rig.Median(memory)>>20, maxMemory>>20)
	return nil
}

// spent is what a client took. The servers' own time is in none.
type spent struct{ wall, cpu time.Duration }

func (s spent) String() string {
	return fmt.Sprintf("%5.2f s, %5.2f s of CPU", s.wall.Seconds(), s.cpu.Seconds())
}

// exportAll has the database's own client write the table.
func (s *source) exportAll(ctx context.Context, r *rig.Rig) (spent, error) {
	file := r.Folder() + "/export"
	syscall.Sync()
	began := time.Now()
	cmd := s.export(ctx, file)
	if said, err := cmd.CombinedOutput(); err != nil {
		return spent{}, fmt.Errorf("export: %w: %s", err, said)
	}
	return spent{time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, os.Remove(file)
}

// lookEvery is short against a refresh and costs it little.
const lookEvery = 20 * time.Millisecond

// feedOf makes a feed of the whole table: from the request to the end of its first
// refresh.
func feedOf(ctx context.Context, r *rig.Rig, s *source, rows int) (made spent, peak rig.Resident, err error) {
	mill, err := r.Start(ctx, r.Feedmill, "FEEDMILL_DATABASE_DIRS="+r.Folder())
	if err != nil {
		return made, peak, err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	c := client.New(mill.URL, mill.Key)
	if _, err := c.CreateConnection(ctx, client.NewConnection{ServiceName: "source", Connector: s.connector, Config: s.config}); err != nil {
		return made, peak, err
	}
	watch := mill.Watch()
	syscall.Sync()
	used, began := mill.CPUTime(), time.Now()
	feed, err := c.CreateQueryFeed(ctx, client.QueryFeed{Spec: []byte(spec)})
	for err == nil && (feed.LastRefresh == nil || !feed.LastRefresh.Ended()) {
		time.Sleep(lookEvery)
		feed, err = c.DataFeed(ctx, feed.ID)
	}
	cpu := mill.CPUTime() - used
	peak, _ = watch.End()
	if err != nil {
		return made, peak, err
	}
	if feed.State != feedmill.FeedReady || feed.RowCount != int64(rows) {
		return made, peak, fmt.Errorf("the feed is %s with %d rows: %+v", feed.State, feed.RowCount, feed.LastError)
	}
	return spent{feed.LastRefresh.EndedAt.Sub(began), cpu}, peak, nil
}

const spec = `{"serviceName":"source","viewName":"orders","query":{"fields":[{"field":"id"},{"field":"customer"},{"field":"status"},{"field":"name"},{"field":"note"},
	{"field":"amount"},{"field":"price"},{"field":"paid"},{"field":"day"},{"field":"placed"}]}}`
