package postgres

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"slices"
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
	ended bool // no more connections are made
	stop  context.CancelFunc
	done  chan struct{}
}

// watched is a connection that knows since when it waits to be answered.
type watched struct {
	net.Conn
	watch *watch
	// reading is since when somebody reads, zero where nobody does, and said when the
	// last of what was to be said was, both in nanoseconds: the driver can read while
	// it writes, and for longer than it waits.
	reading, said atomic.Int64
	process       atomic.Pointer[process] // nil where it is not watched
}

// process is one of a server, and where that server is.
type process struct {
	pid   int64
	place string
}

func newWatch() *watch {
	return &watch{conns: make(map[*watched]struct{}), done: make(chan struct{})}
}

// add watches a connection. After [watch.end] it closes the connection and fails.
func (w *watch) add(conn net.Conn) (net.Conn, error) {
	c := &watched{Conn: conn, watch: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		conn.Close()
		return nil, net.ErrClosed
	}
	w.conns[c] = struct{}{}
	return c, nil
}

// end closes all connections, so that nothing waits for a response any more.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	for c := range w.conns {
		c.Conn.Close()
	}
}

func (c *watched) Read(p []byte) (int, error) {
	c.reading.Store(time.Now().UnixNano())
	defer c.reading.Store(0)
	return c.Conn.Read(p)
}

func (c *watched) Write(p []byte) (int, error) {
	c.said.Store(math.MaxInt64) // not all yet
	defer func() { c.said.Store(time.Now().UnixNano()) }()
	return c.Conn.Write(p)
}

// since is since when the connection waits to be answered, zero where it does not.
func (c *watched) since() int64 {
	reading := c.reading.Load()
	if reading == 0 {
		return 0
	}
	return max(reading, c.said.Load())
}

func (c *watched) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	return c.Conn.Close()
}

// watchFrom has a connection watched from now on, where the server can tell what it does
// for it. A pooler in between has another process work on each transaction, and
// introduces itself with a number that is none of theirs; and what is only like
// PostgreSQL may have an empty pg_stat_activity. Those connections are not watched.
func watchFrom(ctx context.Context, conn *pgx.Conn) error {
	own, err := processOf(ctx, conn)
	if conn.IsClosed() {
		return err
	}
	if err != nil || own.pid != int64(conn.PgConn().PID()) {
		return nil
	}
	below := conn.PgConn().Conn()
	if t, ok := below.(*tls.Conn); ok {
		below = t.NetConn()
	}
	if c, ok := below.(*watched); ok {
		c.process.Store(own)
	}
	return nil
}

// processOf is the process that a connection is to, as the server tells it.
func processOf(ctx context.Context, conn *pgx.Conn) (*process, error) {
	var p process
	err := conn.QueryRow(ctx, `SELECT pid::bigint, concat(inet_server_addr(), ' ', inet_server_port()) FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
		pgx.QueryExecModeSimpleProtocol).Scan(&p.pid, &p.place)
	return &p, err
}

// late are the connections that have waited for long, and since when.
func (w *watch) late(now time.Time) map[*watched]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	late := make(map[*watched]int64)
	for c := range w.conns {
		if since := c.since(); since != 0 && c.process.Load() != nil && now.UnixNano()-since > int64(lateAnswer) {
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
		if !busy[c] && c.since() == since {
			c.Close()
			forgotten = true
		}
	}
	if forgotten {
		db.reset()
	}
}

// busy are those of the connections that the server works for, as far as it says what it
// does. Behind one address there can be several servers: those that are to another one
// than was asked count as well.
func (db *DB) busy(ctx context.Context, late map[*watched]int64) (map[*watched]bool, error) {
	pids := make([]int64, 0, len(late))
	for c := range late {
		pids = append(pids, c.process.Load().pid)
	}
	config := db.pool.Config().ConnConfig.Copy()
	config.DialFunc = dial(config.ConnectTimeout)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	asked, err := processOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, `SELECT pid::bigint FROM pg_stat_activity WHERE pid = ANY($1::bigint[]) AND coalesce(state, '') NOT IN ('idle', 'idle in transaction', 'idle in transaction (aborted)')`, pids)
	if err != nil {
		return nil, err
	}
	working, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	busy := make(map[*watched]bool)
	for c := range late {
		p := c.process.Load()
		busy[c] = p.place != asked.place || slices.Contains(working, p.pid)
	}
	return busy, err
}
