package app

import (
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// cutting forwards connections to a database. While cuts is positive, it cuts a connection that
// has received more than so many bytes, and counts it down.
type cutting struct {
	port  int
	cuts  atomic.Int64
	close func()
}

func newCutting(t *testing.T, to string, after int64) *cutting {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.Map
	c := &cutting{port: listener.Addr().(*net.TCPAddr).Port, close: func() {
		listener.Close()
		open.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
	}}
	t.Cleanup(c.close)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(client, true)
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(server, client)
				server.Close()
			}()
			go func() {
				defer client.Close()
				defer server.Close()
				if _, err := io.CopyN(client, server, after); err != nil || c.cuts.Add(-1) >= 0 {
					return
				}
				_, _ = io.Copy(client, server)
			}()
		}
	}()
	return c
}

// TestLostConnectionIsRetried: a refresh whose connection breaks begins again, up to five times, and
// keeps no row twice. A database that cannot be reached at all is not waited for.
func TestLostConnectionIsRetried(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	for _, test := range []struct {
		name string
		open func(testing.TB) *realDatabase
		rows string
	}{
		{"postgres", realPostgres, "INSERT INTO orders SELECT n, repeat('x', 100) FROM generate_series(1, 20000) n"},
		{"mysql", realMariaDB, "INSERT INTO orders SELECT seq, repeat('x', 100) FROM seq_1_to_20000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := test.open(t)
			db.do(t, "CREATE TABLE orders (id integer PRIMARY KEY, x text)", test.rows)
			proxy := newCutting(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(db.config["port"].(int))), 1<<20)
			db.config["host"], db.config["port"] = "127.0.0.1", proxy.port
			s.connectTo(t, db, test.name)
			spec := `{"serviceName":"` + test.name + `","viewName":"orders","query":{"fields":[{"field":"id"},{"field":"x"}]},"mode":"append","incremental":{"field":"id"}}`
			proxy.cuts.Store(2)
			f := s.queried(t, spec)
			if f.State != "ready" || f.RowCount != 20000 || proxy.cuts.Load() >= 0 {
				t.Errorf("%s, %d rows, %d cuts left: %+v", f.State, f.RowCount, proxy.cuts.Load(), f.LastError)
			}
			var r struct{ Trace []struct{ Attempt int } }
			s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/refreshes/" + f.LastRefresh.ID}).data(t, &r)
			if len(r.Trace) != 3 || r.Trace[2].Attempt != 3 {
				t.Errorf("%+v", r.Trace)
			}
			proxy.close()
			if f, r := s.refreshed(t, f.ID); r.State != "failed" || r.Error.Type != "/problems/database-unreachable" || f.RowCount != 20000 || len(r.Trace) > 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}
