package postgres

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// A connection that a proxy has forgotten ends. One on which the server works stays,
// for however long that takes.
func TestForgottenConnectionsEnd(t *testing.T) {
	direct := pgtest.New(t)
	at, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	p := newForgetful(t, at.Host)
	db := open(t, strings.Replace(direct, at.Host, p.listener.Addr().String(), 1))
	acquire := func() *pgxpool.Conn {
		conn, err := db.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	ask := func(ctx context.Context, conn *pgxpool.Conn, query string) chan error {
		answered := make(chan error, 1)
		go func() {
			defer conn.Release()
			var one int
			answered <- conn.QueryRow(ctx, query, pgx.QueryExecModeSimpleProtocol).Scan(&one)
		}()
		return answered
	}
	one, other := acquire(), acquire()
	ctx, cancel := context.WithCancel(t.Context())
	sleeps := ask(ctx, one, `SELECT 1 FROM pg_sleep(1000)`)
	for working := false; !working; {
		late := awaitLate(t, db, 1)
		busy, err := db.busy(t.Context(), late)
		if err != nil {
			t.Fatal(err)
		}
		for c := range late {
			working = busy[c]
		}
	}
	p.forgotten.Store(true) // all that is said from now on
	forgotten := ask(t.Context(), other, `SELECT 1`)
	late := awaitLate(t, db, 2)
	p.forgotten.Store(false)
	db.endForgotten(t.Context(), late)
	if err := <-forgotten; err == nil {
		t.Error("a connection that was forgotten is answered")
	}
	awaitLate(t, db, 1)
	select {
	case err := <-sleeps:
		t.Errorf("a connection that waits for the server has ended: %v", err)
	default:
	}
	for c := range late {
		here := *c.process.Load()
		gone, elsewhere := &watched{}, &watched{}
		gone.process.Store(&process{pid: -1, place: here.place})
		elsewhere.process.Store(&process{pid: -1, place: here.place + "0"})
		busy, err := db.busy(t.Context(), map[*watched]int64{gone: 1, elsewhere: 1})
		if err != nil || busy[gone] || !busy[elsewhere] {
			t.Errorf("a process that is gone is busy: %t, and one of another server: %t, %v", busy[gone], busy[elsewhere], err)
		}
	}
	cancel()
	<-sleeps
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// Behind a pooler the number of a connection is none of the server's processes, and
// another one works on each transaction: it is not known what the server does for it.
func TestPooledConnectionsAreNotWatched(t *testing.T) {
	direct := pgtest.New(t)
	at, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	for _, pools := range []bool{false, true} {
		p := newForgetful(t, at.Host)
		p.pools.Store(pools)
		config, err := pgxpool.ParseConfig(strings.Replace(direct, at.Host, p.listener.Addr().String(), 1))
		if err != nil {
			t.Fatal(err)
		}
		w := newWatch()
		pool, err := newPool(t.Context(), config, planAnew, w)
		if err != nil {
			t.Fatal(err)
		}
		err = pool.Ping(t.Context())
		w.mu.Lock()
		for c := range w.conns {
			if watches := c.process.Load() != nil; watches == pools {
				t.Errorf("a connection is watched: %t, behind a pooler: %t", watches, pools)
			}
		}
		if len(w.conns) == 0 {
			t.Error("there is no connection")
		}
		w.mu.Unlock()
		pool.Close()
		if err != nil {
			t.Error(err)
		}
	}
}

// The driver reads while it writes something long, and may go on reading when all is
// answered. Neither is to wait for an answer that is late.
func TestWaitingBeginsWhenAllIsSaid(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	w := newWatch()
	added, err := w.add(near)
	if err != nil {
		t.Fatal(err)
	}
	c := added.(*watched)
	c.process.Store(&process{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer c.Close()
	await := func(reached func() bool) {
		for !reached() {
			time.Sleep(time.Millisecond)
		}
	}
	wg.Go(func() { c.Read(make([]byte, 1)) })
	await(func() bool { return c.reading.Load() != 0 })
	wg.Go(func() { c.Write([]byte("?")) })
	await(func() bool { return c.said.Load() != 0 })
	if late := w.late(time.Now().Add(time.Hour)); len(late) != 0 {
		t.Errorf("it waits while it is still saying something: %v", late)
	}
	heard := time.Now().UnixNano()
	if _, err := far.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	await(func() bool { return len(w.late(time.Now().Add(time.Hour))) == 1 })
	if since := w.late(time.Now().Add(time.Hour))[c]; since < heard {
		t.Errorf("it waits since %d, and had not said all until %d", since, heard)
	}
}

// awaitLate waits until so many connections wait for an answer.
func awaitLate(t *testing.T, db *DB, n int) map[*watched]int64 {
	t.Helper()
	for {
		if late := db.watch.late(time.Now().Add(time.Hour)); len(late) == n {
			return late
		}
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		time.Sleep(time.Millisecond)
	}
}

// forgetful is a proxy that can lose what is said and keep the connections, and can
// introduce itself in the place of the server's processes, as a pooler does.
type forgetful struct {
	listener         net.Listener
	forgotten, pools atomic.Bool
	wg               sync.WaitGroup
}

func newForgetful(t *testing.T, to string) *forgetful {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &forgetful{listener: l}
	t.Cleanup(func() {
		l.Close()
		p.wg.Wait()
	})
	p.wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			p.wg.Go(func() { p.carry(far, near) })
			p.wg.Go(func() {
				if p.pools.Load() {
					introduce(near, far)
				}
				p.carry(near, far)
			})
		}
	})
	return p
}

func (p *forgetful) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	io.Copy(losing{to, p}, from)
}

type losing struct {
	io.Writer
	p *forgetful
}

func (l losing) Write(b []byte) (int, error) {
	if l.p.forgotten.Load() {
		return len(b), nil
	}
	return l.Writer.Write(b)
}

// introduce carries what a server says until it is ready, with another number of its
// process. Where that fails whoever carries on sees it.
func introduce(to io.Writer, from io.Reader) {
	for head := make([]byte, 5); head[0] != 'Z'; {
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if head[0] == 'K' {
			body[3] ^= 1
		}
		to.Write(append(head, body...))
	}
}
