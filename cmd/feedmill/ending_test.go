package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// TestKillLosesNothing kills the server while many clients write. What was
// acknowledged is there after the next start, which needs no help.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := serve(t, data)
	admin := p.mustFirstKey(t)

	const writers, enough = 8, 40
	var (
		mu    sync.Mutex
		acked []client.Key
		wg    sync.WaitGroup
	)
	plenty := make(chan struct{})
	for range writers {
		wg.Go(func() {
			c := p.client(admin)
			for {
				k, err := c.CreateKey(context.Background(), client.NewKey{Name: "acknowledged", Scopes: []string{"admin"}})
				if err != nil {
					return // the server is gone
				}
				mu.Lock()
				if acked = append(acked, k); len(acked) == enough {
					close(plenty)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-plenty:
	case <-p.exited:
		t.Fatalf("the server ended by itself: %v", p.cmd.ProcessState)
	}
	p.kill()
	wg.Wait()

	p = serve(t, data)
	ids := p.keyIDs(t, admin)
	for _, k := range acked {
		if !slices.Contains(ids, k.ID) {
			t.Errorf("the key %s was acknowledged and is lost", k.ID)
		}
	}
	// The secret that was handed out opens the door, too.
	p.keyIDs(t, acked[len(acked)-1].Secret)
	p.mustStop(t)
}

// TestTermFinishesRequestsUnderWay holds a request in the middle of its body
// while the server is told to end.
func TestTermFinishesRequestsUnderWay(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := serve(t, data)
	admin := p.mustFirstKey(t)
	address := strings.TrimPrefix(p.url, "http://")

	const body = `{"name":"last of all","scopes":["api:read"]}`
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /keys HTTP/1.1\r\nHost: feedmill\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", admin, len(body))
	answers := bufio.NewReader(conn)
	// The server asks for the body when the handler reads it.
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server says %q, %v", line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}

	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // until it takes no more connections
		probe, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		probe.Close()
	}
	select {
	case <-p.exited:
		t.Fatal("the server did not wait for the request")
	default:
	}
	io.WriteString(conn, body)
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("the request got status %d, want 201", resp.StatusCode)
	}
	if err := p.wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}

	p = serve(t, data)
	if ids := p.keyIDs(t, admin); len(ids) != 2 {
		t.Errorf("there are the keys %v, want two", ids)
	}
}
