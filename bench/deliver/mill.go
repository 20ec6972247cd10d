package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// mill is a running feedmill.
type mill struct {
	*process
	key string
}

func startFeedmill(ctx context.Context, o options, folder string) (*mill, error) {
	m := &mill{key: feedmill.NewKeySecret()}
	cmd := exec.CommandContext(ctx, o.feedmill, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--log-level", "warn")
	cmd.Env = append(os.Environ(), "FEEDMILL_BOOTSTRAP_KEY="+m.key, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8")
	if o.database != "" {
		// Every round opens what the one before has sealed.
		cmd.Env = append(cmd.Env, "FEEDMILL_DATABASE_URL="+o.database, "FEEDMILL_VAULT_KEY=the-rounds-of-a-benchmark-share-this-key")
	}
	p, err := start(cmd)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(p.url, "listening on ")
	p.url, _, _ = strings.Cut(rest, " ")
	m.process = p
	if err := m.settleIn(ctx); err != nil {
		m.stop()
		return nil, err
	}
	return m, nil
}

// settleIn makes a workspace of the round's own: what earlier rounds have
// subscribed in the same database must not match.
func (m *mill) settleIn(ctx context.Context) error {
	c := client.New(m.url, m.key)
	w, err := c.CreateWorkspace(ctx, "round "+string(feedmill.NewID(feedmill.PrefixWorkspace)))
	if err != nil {
		return err
	}
	k, err := c.CreateKey(ctx, client.NewKey{Name: "bench", Scopes: []string{"api:write", "events:publish"}, WorkspaceID: w.ID})
	m.key = k.Secret
	return err
}

func (m *mill) stop() {
	if m.cmd.ProcessState != nil {
		return
	}
	m.cmd.Process.Signal(syscall.SIGTERM)
	m.cmd.Wait()
}

// peakMemory is the largest resident size so far, in bytes.
func (m *mill) peakMemory() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb << 10
		}
	}
	return 0
}

// subscribe makes n subscriptions to the sink.
func (m *mill) subscribe(ctx context.Context, url string, n int) error {
	for i := range n {
		body, err := json.Marshal(map[string]any{"url": fmt.Sprintf("%s/%d", url, i), "events": []string{"metric.*"}})
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/events/subscriptions", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+m.key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			return fmt.Errorf("subscribing: %d %s", resp.StatusCode, text)
		}
	}
	return nil
}

// publishers is how many connections publish at once.
const publishers = 64

// publish publishes n events of 1 KB, batch of them a request, over connections
// that are kept open. It writes HTTP itself: the publisher runs on the same
// cores as what is measured, and should take as little of them as it can.
func (m *mill) publish(ctx context.Context, n, batch int) error {
	event := fmt.Sprintf(`{"type":"metric.created","resourceId":"m_1","data":{"text":%q}}`, strings.Repeat("x", payload1K-160))
	body := event
	if batch > 1 {
		body = "[" + strings.Repeat(event+",", batch-1) + event + "]"
	}
	host := strings.TrimPrefix(m.url, "http://")
	request := fmt.Appendf(nil, "POST /events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, m.key, len(body), body)
	var left atomic.Int64
	left.Store(int64(n / batch))
	var wg sync.WaitGroup
	errs := make(chan error, publishers)
	for range publishers {
		wg.Go(func() {
			if err := publishOn(ctx, host, request, &left); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

func publishOn(ctx context.Context, host string, request []byte, left *atomic.Int64) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	for left.Add(-1) >= 0 {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if err := readAccepted(r); err != nil {
			return err
		}
	}
	return nil
}

// readAccepted reads one answer, which must be 202.
func readAccepted(r *bufio.Reader) error {
	status, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "\r\n" {
			break
		}
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-length") {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 202") {
		return fmt.Errorf("publishing: %s%s", status, body)
	}
	return nil
}
