package app

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
)

// doorkeeper is a server that speaks enough of PostgreSQL's protocol to ask for a
// password: it refuses all but one, and with that one says that it has no time.
func doorkeeper(t *testing.T, password string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go askPassword(conn, password)
		}
	}()
	return listener.Addr().String()
}

func askPassword(conn net.Conn, password string) {
	defer conn.Close()
	message := func() []byte {
		var size [4]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return nil
		}
		body := make([]byte, min(binary.BigEndian.Uint32(size[:]), 4096)-4)
		_, _ = io.ReadFull(conn, body)
		return body
	}
	message() // the startup
	_, _ = conn.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3})
	var kind [1]byte
	if _, err := io.ReadFull(conn, kind[:]); err != nil {
		return
	}
	code := "28P01"
	if strings.TrimRight(string(message()), "\x00") == password {
		code = "57P03"
	}
	fields := "SFATAL\x00VFATAL\x00C" + code + "\x00Mno\x00\x00"
	_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(fields)+4)), fields...))
}

// Feeds whose database refused the password are tried again when their
// connection has another one. Those that somebody paused stay so.
func TestReconnected(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	host, port, _ := net.SplitHostPort(doorkeeper(t, "the-right-one"))
	c := s.connected(t, `{"serviceName":"warehouse","connector":"postgres","config":{"host":"`+host+`","port":`+port+`,"database":"shop","user":"reader","password":"a-wrong-one","sslmode":"disable"}}`)
	made := func() (f shownFeed) {
		s.send(t, request{
			method: "POST", path: "/data_feeds?type=queryBuilder", body: `{"serviceName":"warehouse","viewName":"orders","query":{"fields":[{"field":"id"}]}}`,
			header: [][2]string{{"Prefer", "wait=60"}, {"Content-Type", "application/json"}},
		}).data(t, &f)
		return f
	}
	refused, paused := made(), made()
	if refused.State != "auth_required" {
		t.Fatalf("%+v", refused)
	}
	s.send(t, request{method: "POST", path: "/data_feeds/" + paused.ID + "/pause"})
	if got := s.send(t, request{method: "PATCH", path: "/connections/" + c.ID, body: `{"config":{"password":"the-right-one"}}`}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	eventually(t, func() bool {
		var f shownFeed
		s.send(t, request{method: "GET", path: "/data_feeds/" + refused.ID}).data(t, &f)
		return f.State == "failed"
	})
	s.send(t, request{method: "GET", path: "/data_feeds/" + paused.ID}).data(t, &paused)
	if paused.State != "paused" {
		t.Errorf("%+v", paused)
	}
}
