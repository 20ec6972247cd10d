package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// attack is a request that was found to take the service from others.
type attack struct {
	name                            string
	method, path, contentType, body string
}

// attacks are all of them, by somebody with a feed of long texts.
func attacks(feed string) []attack {
	var sparse strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&sparse, "{\"c%d\":1}\n", i)
	}
	document := `{"big":"` + strings.Repeat("x", 8<<20) + `","items":[` + strings.Repeat("1,", 100_000) + `1]}`
	brackets := "[" + strings.Repeat("[],", 1<<20/3-10) + "[]]"
	const (
		table = "/data_feeds/%s/"
		json  = "application/json"
	)
	return []attack{
		{"path", http.MethodPost, "/data_feeds/preview?type=dataUpload&path=%24.items%5B%3Flength(%24.big)%3E1%5D", json, document},
		{"sparse", http.MethodPost, "/data_feeds?type=dataUpload", "application/x-ndjson", sparse.String()},
		{"pattern", http.MethodPost, fmt.Sprintf(table, feed) + "query", json, `{"fields":[{"field":"text","filters":[{"op":"matches","values":["(x+x+)+y(x|y){1,200}"]}]}]}`},
		{"brackets", http.MethodPost, "/events/subscriptions", json, brackets},
	}
}

// newHostile makes a second workspace, with a feed of long texts.
func newHostile(ctx context.Context, mill *rig.Mill) (*workspace, error) {
	c := client.New(mill.URL, mill.Admin)
	made, err := c.CreateWorkspace(ctx, "hostile")
	if err != nil {
		return nil, err
	}
	key, err := c.CreateKey(ctx, client.NewKey{Name: "hostile", Scopes: []string{"api:read", "api:write"}, WorkspaceID: made.ID})
	if err != nil {
		return nil, err
	}
	w := &workspace{url: mill.URL, key: key.Secret}
	text := `{"text":"` + strings.Repeat("x", 20_000) + `"}`
	w.feed, err = w.upload(ctx, "["+strings.Repeat(text+",", 999)+text+"]")
	return w, err
}

const (
	// asHostile is the role of the process that attacks, and clientsEach how many
	// clients make each of its attacks.
	asHostile   = "hostile"
	clientsEach = 3
	// lower is by how much its priority is lower than that of the benchmark, as
	// nice(1) counts.
	lower = 10
)

// attackBeside starts a process that makes the chosen attacks until it is stopped. It is one of its own,
// with less of this machine than the server, because attackers bring theirs: what the
// quiet workspace waits for is to be the server, and not who attacks it.
func (w *workspace) attackBeside(only string) (*rig.Peer, error) {
	return rig.StartRole(asHostile, w.url, w.key, w.feed, only)
}

// beHostile is the role: its arguments are where to, as whom, with which feed and which attacks.
func beHostile(args []string) error {
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err == nil {
		// The system call counts from 20 downwards.
		err = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 20-own+lower)
	}
	if err != nil {
		return err
	}
	w := &workspace{url: args[0], key: args[1], feed: args[2]}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, a := range attacks(w.feed) {
		if !rig.Chosen(args[3], a.name) {
			continue
		}
		for range clientsEach {
			all.Go(func() { w.repeat(ctx, a) })
		}
	}
	fmt.Println("begun")
	_, err = io.Copy(io.Discard, os.Stdin) // until the benchmark is gone
	stop()
	all.Wait()
	return err
}

// repeat makes an attack as fast as it is answered.
func (w *workspace) repeat(ctx context.Context, a attack) {
	for ctx.Err() == nil {
		status, _, err := w.do(ctx, a.method, a.path, a.contentType, a.body)
		if err != nil || status != http.StatusTooManyRequests {
			continue
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
