package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestShapes has three workspaces send and read tables of random shapes, beside one that
// goes about its business, on a server that has 512 MB for itself and its workers.
func TestShapes(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { attackWithShapes(t) })
	t.Run("postgres", func(t *testing.T) {
		if longOr(true, false) {
			t.Skip("the store has no part in it; the long form tries both")
		}
		attackWithShapes(t, onPostgres(pgtest.New(t))...)
	})
}

func attackWithShapes(t *testing.T, env ...string) {
	group := newMemoryGroup(t)
	p := serveLimited(t, group, slices.Concat(onLoopback, env)...)
	n := newNeighbour(t, p)
	quiet, cancel := context.WithTimeout(t.Context(), longOr(100*time.Millisecond, 10*time.Second))
	if err := n.live(quiet); err != nil {
		t.Fatal(err)
	}
	cancel()
	alone := n.slowest()
	var keys []string
	for i := range 3 {
		workspace := must(t, http.StatusCreated, sharedFirstKey, p.url+"/workspaces", fmt.Sprintf(`{"name":"shapes %d"}`, i))
		keys = append(keys, must(t, http.StatusCreated, sharedFirstKey, p.url+"/keys", fmt.Sprintf(`{"name":"k","scopes":["api:read","api:write"],"workspaceId":%q}`, workspace["id"]))["key"].(string))
	}
	http.DefaultClient.CloseIdleConnections()
	before := p.holding(t)
	var most atomic.Int64
	n.beside(t, func(ctx context.Context) {
		attackWith(ctx, t, p.url, keys, longOr(300*time.Millisecond, 4*time.Minute), func() { most.Store(max(most.Load(), p.resident())) })
	})
	p.awaitRest(t, before)
	t.Logf("at most %d MiB; 99 of 100 requests of the neighbour took %v alone and %v beside it", most.Load()>>20, alone, n.slowest())
	if group != "" && group.killed(t) > 0 {
		t.Error("a process was killed for want of memory")
	}
	p.mustStop(t)
}

// attackWith has workspaces send and read tables of random shapes for a while, and calls during
// every now and then.
func attackWith(ctx context.Context, t *testing.T, url string, keys []string, length time.Duration, during func()) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var statuses sync.Map
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all sync.WaitGroup
	for i, key := range keys {
		all.Go(func() {
			a := &shaper{url: url, key: key, random: rand.New(rand.NewPCG(seed, uint64(i))), statuses: &statuses}
			for ctx.Err() == nil {
				if err := a.attack(ctx, longOr(1<<20, 300<<20)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for during != nil && ctx.Err() == nil {
		during()
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
	statuses.Range(func(what, count any) bool { t.Logf("%v: %v", what, count.(*atomic.Int64).Load()); return true })
}

// shaper sends tables of random shapes and reads them in every way.
type shaper struct {
	url, key string
	random   *rand.Rand
	statuses *sync.Map
}

// attack sends one table.
func (a *shaper) attack(ctx context.Context, bytes int) error {
	s := drawShape(a.random, bytes)
	if a.random.IntN(4) == 0 {
		_, err := a.send(ctx, &s, http.MethodPost, "/data_feeds/preview?type=dataUpload")
		return err
	}
	answer, err := a.send(ctx, &s, http.MethodPost, "/data_feeds?type=dataUpload")
	_, after, _ := strings.Cut(answer, `"id":"df_`)
	id, _, made := strings.Cut(after, `"`)
	if err != nil || !made {
		return err
	}
	feed := "/data_feeds/df_" + id
	defer a.send(context.WithoutCancel(ctx), nil, http.MethodDelete, feed)
	for range 3 {
		path := []string{"/data?format=csv", "/data?format=ndjson", "/data?format=json", "/data?format=arrow", "/data?format=parquet", "/data?format=xlsx", "/data?limit=50", "/profile"}[a.random.IntN(8)]
		if _, err := a.send(ctx, nil, http.MethodGet, feed+path); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	path := "/data" + []string{"", "?mode=append", "?mode=merge&key=c0"}[a.random.IntN(3)]
	if _, err := a.send(ctx, &s, http.MethodPut, feed+path); err != nil {
		return err
	}
	_, err = a.send(ctx, nil, http.MethodGet, feed+"/changes?from=1&to=2")
	return err
}

// send makes a request, of which nothing but faults of the server is an error. Some leave in the
// middle.
func (a *shaper) send(ctx context.Context, s *shape, method, path string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if a.random.IntN(8) == 0 && method != http.MethodDelete {
		time.AfterFunc(time.Duration(a.random.IntN(1000))*time.Millisecond, cancel)
	}
	body := io.Reader(http.NoBody)
	if s != nil {
		body = s.open()
	}
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, body)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	if s != nil {
		req.Header.Set("Content-Type", shapeTypes[s.format])
		if s.compressed {
			req.Header.Set("Content-Encoding", "gzip")
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", nil // it was left, or ended by the server, which says why in its log
	}
	defer resp.Body.Close()
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	_, cut := io.Copy(io.Discard, resp.Body)
	what := fmt.Sprintf("%s %d", method, resp.StatusCode)
	if resp.StatusCode >= 400 {
		_, problem, _ := strings.Cut(string(head), `"type":"`)
		problem, _, _ = strings.Cut(problem, `"`)
		what += " " + problem
	} else if cut != nil && ctx.Err() == nil {
		what += " cut short"
	}
	count, _ := a.statuses.LoadOrStore(what, new(atomic.Int64))
	count.(*atomic.Int64).Add(1)
	if resp.StatusCode >= 500 {
		return "", fmt.Errorf("%s %s with %v: %d %.300s", method, path, s, resp.StatusCode, head)
	}
	return string(head), nil
}
