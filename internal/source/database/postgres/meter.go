package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/source/database"
)

// errTooMuch ends a connection whose server goes on and on where little is asked for.
var errTooMuch = errors.New("the server sends too much")

// meter is the other side of a connection, which bounds what comes of it while that is
// held in memory: the answers to all but the statement whose rows are
// handed on as they come.
type meter struct {
	net.Conn
	came      atomic.Int64
	streaming atomic.Bool
}

// Read reads, unless there was too much.
func (m *meter) Read(p []byte) (int, error) {
	if !m.streaming.Load() && m.came.Load() > database.MaxInventory {
		return 0, errTooMuch
	}
	n, err := m.Conn.Read(p)
	m.came.Add(int64(n))
	return n, err
}

// restart counts from the beginning, or not at all while rows are handed on.
func (m *meter) restart(streaming bool) {
	if m != nil {
		m.came.Store(0)
		m.streaming.Store(streaming)
	}
}

// meterOf is the meter of a connection, nil where it has none.
func meterOf(conn *pgx.Conn) *meter {
	below := conn.PgConn().Conn()
	if secure, ok := below.(*tls.Conn); ok {
		below = secure.NetConn()
	}
	m, _ := below.(*meter)
	return m
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// withMeter has what is dialled measured.
func withMeter(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &meter{Conn: conn}, nil
	}
}
