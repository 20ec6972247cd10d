package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// server is the process of a server, seen from outside.
type server struct {
	url string
	// key is the credential that every request carries.
	key string
	// cpu is how much CPU time the process has used.
	cpu func() time.Duration
}

// prepare makes as many keys as an answer shall hold, and returns the path to
// read them at and what stands there. They are newer than the key that makes
// the requests, whose time of last use changes, so the answer stays the same.
func (s server) prepare(ctx context.Context, limit int) (path string, body []byte, err error) {
	c := client.New(s.url, s.key)
	for i := range limit {
		k := client.NewKey{Name: fmt.Sprint("dashboard ", i), Scopes: []string{"api:read", "api:write"}}
		if _, err := c.CreateKey(ctx, k); err != nil {
			return "", nil, err
		}
	}
	path = fmt.Sprint("/keys?limit=", limit)
	body, err = s.get(http.DefaultClient, path)
	return path, body, err
}

// measure makes the requests and returns the CPU time that the server's process
// took for each.
func (s server) measure(path string, length, requests, connections int) (time.Duration, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	before := s.cpu()
	var made atomic.Int64
	var g errgroup.Group
	for range connections {
		g.Go(func() error {
			for made.Add(1) <= int64(requests) {
				body, err := s.get(c, path)
				if err != nil {
					return err
				}
				if len(body) != length {
					return fmt.Errorf("GET %s: %d bytes, want %d", path, len(body), length)
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return (s.cpu() - before) / time.Duration(requests), err
}

func (s server) get(c *http.Client, path string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d: %s", path, resp.StatusCode, body)
	}
	return body, err
}

// bareRole writes the bytes of a file, as feedmill does, and does nothing else.
var bareRole = rig.Role{Name: "bare", Run: func(args []string) error {
	if len(args) != 1 {
		return errors.New("the argument is a file")
	}
	body, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	length := strconv.Itoa(len(body))
	return rig.Serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		w.Write(body)
	}))
}}
