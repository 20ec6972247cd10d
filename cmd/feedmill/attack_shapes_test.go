package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestShapes sends and reads tables of random shapes for longer than [TestAttacks].
func TestShapes(t *testing.T) {
	if longOr(true, false) {
		t.Skip("TestAttacks has it in its short form")
	}
	longer := shapes
	longer.lasts = 4 * time.Minute
	t.Run("sqlite", func(t *testing.T) { runAttacks(t, []attack{longer}) })
	t.Run("postgres", func(t *testing.T) { runAttacks(t, []attack{longer}, onPostgres(pgtest.New(t))...) })
}

// shapes has three workspaces send and read tables of random shapes.
var shapes = attack{name: "tables of random shapes", lasts: time.Minute, prepare: others(3), run: func(ctx context.Context, a *attacker) {
	seed := rand.Uint64()
	a.t.Logf("seed %d", seed)
	var statuses sync.Map
	var all sync.WaitGroup
	for i, h := range a.Others[:3] {
		all.Go(func() {
			s := &shaper{url: h.URL, key: h.Key, random: rand.New(rand.NewPCG(seed, uint64(i))), statuses: &statuses}
			for ok := true; ok; ok = a.stopped.Err() == nil {
				if err := s.attack(ctx, longOr(1<<18, 300<<20)); err != nil {
					a.t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	statuses.Range(func(what, count any) bool { a.t.Logf("%v: %v", what, count.(*atomic.Int64).Load()); return true })
}}

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
