package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/feedmill/feedmill/internal/source/database"
)

// maxRow is how many bytes a server may send before there is a row, or another one.
// A row is collected before it is handed on, and the protocol has no bound for it.
const maxRow = 64 << 20

// errTooMuch ends a connection whose server sends more than that.
var errTooMuch = errors.New("the server sends a message that is too large")

// meter is the other side of a connection, which counts what comes. Below TLS that is
// nearly as much as above it.
type meter struct {
	net.Conn
	came   atomic.Int64
	closed func()
	// gate is for the rows of the statement that runs.
	gate atomic.Pointer[database.RowGate]
}

// Read reads, unless there was too much.
func (m *meter) Read(p []byte) (int, error) {
	if m.over() {
		return 0, errTooMuch
	}
	n, err := m.Conn.Read(p)
	m.came.Add(int64(n))
	if err == nil {
		err = m.gate.Load().Came(int64(n))
	}
	return n, err
}

// Close closes the connection.
func (m *meter) Close() error {
	m.closed()
	return m.Conn.Close()
}

// restart counts from the beginning: a row has come, or something else is asked for.
func (m *meter) restart() {
	if m != nil {
		m.came.Store(0)
	}
}

// admit sets the gate for the rows that come, or none.
func (m *meter) admit(rows *database.RowGate) {
	if m != nil {
		m.gate.Store(rows)
	}
}

func (m *meter) over() bool { return m != nil && m.came.Load() >= maxRow }

// metered makes connections, and knows the meter of each.
type metered struct {
	driver.Connector
	meters sync.Map // of *meter, by the connection of the driver
}

type meterKey struct{}

// Connect makes a connection. The meter comes by ctx, from whoever dials.
func (c *metered) Connect(ctx context.Context) (driver.Conn, error) {
	var m *meter
	conn, err := c.Connector.Connect(context.WithValue(ctx, meterKey{}, &m))
	if err != nil || m == nil {
		return conn, err
	}
	c.meters.Store(conn, m)
	m.closed = func() { c.meters.Delete(conn) }
	return conn, nil
}

// of is the meter of a connection, nil where it has none.
func (c *metered) of(conn any) *meter {
	found, _ := c.meters.Load(conn)
	m, _ := found.(*meter)
	return m
}

// dialer makes connections.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// withMeter has what is dialled measured.
func withMeter(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		into, ok := ctx.Value(meterKey{}).(**meter)
		if err != nil || !ok {
			return conn, err
		}
		*into = &meter{Conn: conn, closed: func() {}}
		return *into, nil
	}
}

// tooLarge is the failure of a read whose server sends too much.
func tooLarge() error {
	return database.Fail(database.ProblemStatement, fmt.Sprintf("A row has more than %d MiB, the maximum. Leave out the large field.", maxRow>>20), errTooMuch)
}
