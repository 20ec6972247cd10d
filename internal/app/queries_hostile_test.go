package app

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// hostileServer answers connections by a function until the test ends, and returns
// the port that it listens on.
func hostileServer(t *testing.T, answer func(net.Conn)) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				answer(conn)
			})
		}
	})
	return l.Addr().(*net.TCPAddr).Port
}

// readPacket and writePacket are those of the protocol of MySQL.
func readPacket(conn net.Conn) (data []byte, sequence byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, 0, err
	}
	data = make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err = io.ReadFull(conn, data)
	return data, head[3], err
}

func writePacket(conn net.Conn, sequence byte, data string) {
	io.WriteString(conn, string([]byte{byte(len(data)), byte(len(data) >> 8), 0, sequence})+data)
}

// greet is the beginning of a connection to MySQL: whoever comes is let in.
func greet(conn net.Conn) (sequence byte) {
	const salt = "12345678\x00"
	capabilities := "\x80\x82" + "\x21" + "\x02\x00" + "\x08\x00" // of protocol 4.1, with plugins and local files
	writePacket(conn, 0, "\x0a8.0.0\x00\x01\x00\x00\x00"+salt+capabilities+"\x15"+strings.Repeat("\x00", 10)+"123456789012\x00mysql_native_password\x00")
	_, sequence, err := readPacket(conn)
	if err == nil {
		writePacket(conn, sequence+1, "\x00\x00\x00\x02\x00\x00\x00")
	}
	return sequence
}

// A server of MySQL can ask for a file of the client instead of answering. It gets
// none, whatever it asks for.
func TestServersGetNoFiles(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []byte
	asked := 0
	port := hostileServer(t, func(conn net.Conn) {
		greet(conn)
		for {
			command, sequence, err := readPacket(conn)
			if err != nil || len(command) == 0 || command[0] == 1 {
				return
			}
			writePacket(conn, sequence+1, "\xfb/etc/passwd")
			sent, sequence, err := readPacket(conn)
			if err != nil {
				return
			}
			mu.Lock()
			asked++
			got = append(got, sent...)
			mu.Unlock()
			writePacket(conn, sequence+1, "\x00\x00\x00\x02\x00\x00\x00")
		}
	})
	s := start(t, webhooks)
	c := s.connected(t, toJSON(map[string]any{"serviceName": "hostile", "connector": "mysql", "config": map[string]any{"host": "127.0.0.1", "port": port, "database": "d", "user": "u", "password": "s3cret"}}))
	if answer := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/test"}); !strings.HasPrefix(answer.body, `{"ok":false,`) || strings.Contains(answer.body, "s3cret") {
		t.Error(answer.body)
	}
	mu.Lock()
	defer mu.Unlock()
	if asked == 0 || len(got) > 0 {
		t.Errorf("asked %d times, it got %q", asked, got)
	}
}

// A server of MySQL can send a packet that never ends. It is not collected.
func TestServersSendNoEndlessPackets(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	port := hostileServer(t, func(conn net.Conn) {
		sequence := greet(conn)
		if _, at, err := readPacket(conn); err == nil {
			sequence = at
		}
		part := make([]byte, 4+1<<24-1)
		for i := 0; ; i++ {
			copy(part, []byte{0xff, 0xff, 0xff, sequence + 1 + byte(i)})
			n, err := conn.Write(part)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	s := start(t, webhooks)
	c := s.connected(t, toJSON(map[string]any{"serviceName": "hostile", "connector": "mysql", "config": map[string]any{"host": "127.0.0.1", "port": port, "database": "d", "user": "u"}}))
	if answer := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/test"}); !strings.HasPrefix(answer.body, `{"ok":false,`) {
		t.Error(answer.body)
	}
	// What is on its way in the end is more than what was read, and is counted a moment
	// after it was sent.
	eventually(t, func() bool { return sent.Load() >= 16<<20 })
	if n := sent.Load(); n > 128<<20 {
		t.Errorf("the server sent %d bytes", n)
	}
}

// A server of PostgreSQL that announces a message as large as it can be is not
// waited for, nor is memory taken for it.
func TestServersAnnounceNoGigabytes(t *testing.T) {
	t.Parallel()
	port := hostileServer(t, func(conn net.Conn) {
		for {
			var size [4]byte
			if _, err := io.ReadFull(conn, size[:]); err != nil {
				return
			}
			rest := make([]byte, binary.BigEndian.Uint32(size[:])-4)
			if _, err := io.ReadFull(conn, rest); err != nil {
				return
			}
			if binary.BigEndian.Uint32(rest) == 80877103 { // it asks for TLS
				io.WriteString(conn, "N")
				continue
			}
			io.WriteString(conn, "R"+string(binary.BigEndian.AppendUint32(nil, 900<<20)))
			io.Copy(io.Discard, conn)
			return
		}
	})
	s := start(t, webhooks)
	c := s.connected(t, toJSON(map[string]any{"serviceName": "hostile", "connector": "postgres", "config": map[string]any{"host": "127.0.0.1", "port": port, "database": "d", "user": "u", "sslmode": "disable"}}))
	if answer := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/test"}); !strings.HasPrefix(answer.body, `{"ok":false,`) || !strings.Contains(answer.body, "body length") {
		t.Error(answer.body)
	}
}
