package postgres

import (
	"context"
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
	for busy := map[uint32]bool(nil); len(busy) == 0; {
		if busy, err = db.busy(t.Context(), awaitLate(t, db, 1)); err != nil {
			t.Fatal(err)
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
	cancel()
	<-sleeps
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
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

// forgetful is a proxy that can lose what is said and keep the connections.
type forgetful struct {
	listener  net.Listener
	forgotten atomic.Bool
	wg        sync.WaitGroup
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
			p.wg.Go(func() { p.carry(near, far) })
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
