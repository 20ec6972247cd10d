package postgres

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/feedmill/feedmill/internal/source/database"
)

// errTooMuch ends a connection whose server goes on and on where little is asked for.
var errTooMuch = errors.New("the server sends too much data")

// meter is the other side of a connection, which bounds what comes of it while that is
// held in memory: the answers to all but the statement whose rows are
// handed on as they come.
type meter struct {
	net.Conn
	came      atomic.Int64
	streaming atomic.Bool
	// gate is for the rows that are handed on.
	gate atomic.Pointer[database.RowGate]
	// swollen says that a message came that was larger than keptBytes.
	swollen atomic.Bool
}

// keptBytes is how large a message may be for its connection to be used again: pgx keeps the last
// error, notice and row of a connection for as long as that lives.
const keptBytes = 256 << 10

// Read reads, unless there was too much.
func (m *meter) Read(p []byte) (int, error) {
	if !m.streaming.Load() && m.came.Load() > database.MaxInventory {
		return 0, errTooMuch
	}
	n, err := m.Conn.Read(p)
	m.came.Add(int64(n))
	return n, err
}

// restart counts from the beginning, or not at all while rows are handed on, which have a gate.
func (m *meter) restart(rows *database.RowGate) {
	if m != nil {
		m.came.Store(0)
		m.streaming.Store(rows != nil)
		m.gate.Store(rows)
	}
}

// isSwollen reports whether the connection holds much memory.
func (m *meter) isSwollen() bool { return m != nil && m.swollen.Load() }

// meterOf is the meter of a connection, nil where it has none.
func meterOf(conn *pgx.Conn) *meter { return meterBelow(conn.PgConn().Conn()) }

func meterBelow(conn any) *meter {
	below := conn
	if secure, ok := conn.(*tls.Conn); ok {
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

// announced reads messages of the server, and has rows wait that announce themselves to be large,
// before memory is taken for them.
type announced struct {
	io.Reader
	meter *meter
	// head is the beginning of a message as far as it has come, and body what is left of its rest.
	head []byte
	body int64
}

// headBytes is how long the type and the length of a message are. The length counts itself.
const headBytes, lengthBytes = 5, 4

// Read reads, and waits for the turn of a large row.
func (a *announced) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	for came := p[:n]; len(came) > 0; {
		if a.body > 0 {
			skipped := min(a.body, int64(len(came)))
			a.body -= skipped
			came = came[skipped:]
			continue
		}
		taken := min(headBytes-len(a.head), len(came))
		a.head, came = append(a.head, came[:taken]...), came[taken:]
		if len(a.head) < headBytes {
			break
		}
		a.body = int64(binary.BigEndian.Uint32(a.head[1:])) - lengthBytes
		a.head = a.head[:0]
		if a.body > keptBytes {
			a.meter.swollen.Store(true)
		}
		if gate := a.meter.gate.Load(); err == nil && gate != nil {
			err = gate.Came(a.body)
		}
	}
	return n, err
}

// buildFrontend has pgx read through the gate of the connection.
func buildFrontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	if m := meterBelow(w); m != nil {
		r = &announced{Reader: r, meter: m}
	}
	return pgproto3.NewFrontend(r, w)
}
