package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/feedmill/feedmill/client"
)

// prepare makes as many keys as an answer shall hold, and returns the path to
// read them at and what stands there. They are newer than the key that makes
// the requests, whose time of last use changes, so the answer stays the same.
func prepare(url string, limit int) (path string, body []byte, err error) {
	c := client.New(url, adminKey)
	for i := range limit {
		k := client.NewKey{Name: fmt.Sprint("dashboard ", i), Scopes: []string{"api:read", "api:write"}}
		if _, err := c.CreateKey(context.Background(), k); err != nil {
			return "", nil, err
		}
	}
	path = fmt.Sprint("/keys?limit=", limit)
	body, err = get(http.DefaultClient, url+path)
	return path, body, err
}

// measure makes the requests and returns the CPU time that the server's process
// took for each.
func (s *server) measure(path string, length, requests, connections int) (time.Duration, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	before, err := s.cpu()
	if err != nil {
		return 0, err
	}
	var made atomic.Int64
	var g errgroup.Group
	for range connections {
		g.Go(func() error {
			for made.Add(1) <= int64(requests) {
				body, err := get(c, s.url+path)
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
	if err := g.Wait(); err != nil {
		return 0, err
	}
	after, err := s.cpu()
	return (after - before) / time.Duration(requests), err
}

func get(c *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+adminKey)
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d: %s", url, resp.StatusCode, body)
	}
	return body, err
}
