package postgres

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A proxy on the way to the database can forget a connection and still acknowledge
// what it is sent: no limit of the network ends that, and whoever waits for an answer
// does so for as long as a long statement may take. So where answers are late the
// server is asked, on a new connection, whether it works on them at all.
const (
	// lateAnswer is how long a statement takes before the server is asked.
	lateAnswer = 3 * time.Second
	watchEvery = time.Second
	// onItsWay is how long an answer that the server has given may still take.
	onItsWay = time.Second
)

// watch knows the connections of the pools.
type watch struct {
	mu    sync.Mutex
	conns map[*watched]struct{}
	stop  context.CancelFunc
	done  chan struct{}
}

// watched is a connection that knows since when it waits to be answered.
type watched struct {
	net.Conn
	watch *watch
	since atomic.Int64 // in nanoseconds; zero where nobody waits
	pid   atomic.Uint32
}

func newWatch() *watch {
	return &watch{conns: make(map[*watched]struct{}), done: make(chan struct{})}
}

func (w *watch) add(conn net.Conn) net.Conn {
	c := &watched{Conn: conn, watch: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = struct{}{}
	return c
}

func (c *watched) Read(p []byte) (int, error) {
	c.since.Store(time.Now().UnixNano())
	defer c.since.Store(0)
	return c.Conn.Read(p)
}

func (c *watched) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	return c.Conn.Close()
}

// setProcess notes which of the server's processes a connection is to: from then on
// it is watched.
func setProcess(conn net.Conn, pid uint32) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if c, ok := conn.(*watched); ok {
		c.pid.Store(pid)
	}
}

// late are the connections that have waited for long, and since when.
func (w *watch) late(now time.Time) map[*watched]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	late := make(map[*watched]int64)
	for c := range w.conns {
		if since := c.since.Load(); since != 0 && c.pid.Load() != 0 && now.UnixNano()-since > int64(lateAnswer) {
			late[c] = since
		}
	}
	return late
}

// watchConnections ends connections that were forgotten on the way, until ctx ends.
func (db *DB) watchConnections(ctx context.Context) {
	defer close(db.watch.done)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if late := db.watch.late(now); len(late) > 0 {
				db.endForgotten(ctx, late)
			}
		}
	}
}

// endForgotten ends those of the late connections that the server does not work for.
// Where there is one, the connections that nobody uses are given up as well.
func (db *DB) endForgotten(ctx context.Context, late map[*watched]int64) {
	call, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	busy, err := db.busy(call, late)
	if err != nil {
		return // the server itself is slow, or away
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(onItsWay):
	}
	forgotten := false
	for c, since := range late {
		if !busy[c.pid.Load()] && c.since.Load() == since {
			c.Close()
			forgotten = true
		}
	}
	if forgotten {
		db.reset()
	}
}

// busy are the processes of the server that work for one of the connections, as far as
// it says what they do.
func (db *DB) busy(ctx context.Context, late map[*watched]int64) (map[uint32]bool, error) {
	pids := make([]int64, 0, len(late))
	for c := range late {
		pids = append(pids, int64(c.pid.Load()))
	}
	config := db.pool.Config().ConnConfig.Copy()
	config.DialFunc = dial(config.ConnectTimeout)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `SELECT pid::bigint FROM pg_stat_activity WHERE pid = ANY($1::bigint[]) AND coalesce(state, '') NOT IN ('idle', 'idle in transaction', 'idle in transaction (aborted)')`, pids)
	if err != nil {
		return nil, err
	}
	busy := make(map[uint32]bool)
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, pid := range found {
		busy[uint32(pid)] = true
	}
	return busy, err
}
