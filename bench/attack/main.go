// Command attack measures what a hostile workspace costs another: the time of an
// upload, a read, a query and a publish of a quiet workspace, alone and beside
// attacks of one with an ordinary key.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

type options struct {
	rig.Options
	seconds int
	memory  string
}

func main() {
	var o options
	flag.IntVar(&o.seconds, "seconds", 10, "how long each half of the run takes")
	flag.StringVar(&o.memory, "memory", "", "what GOMEMLIMIT says to the server, empty for what it finds out")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) })
}

// wanted is how many times longer the quiet workspace may wait.
const wanted = 5.0

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	var env []string
	if o.memory != "" {
		env = append(env, "GOMEMLIMIT="+o.memory)
	}
	mill, err := r.Start(ctx, r.Feedmill, env...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	hostile, err := newHostile(ctx, mill)
	if err != nil {
		return err
	}
	quiet := &workspace{url: mill.URL, key: mill.Key}
	if quiet.feed, err = quiet.upload(ctx, `[{"a":1},{"a":2}]`); err != nil {
		return err
	}
	if _, err := quiet.days(ctx, time.Second); err != nil { // warm up
		return err
	}
	alone, err := quiet.days(ctx, time.Duration(o.seconds)*time.Second)
	if err != nil {
		return err
	}
	attacked, stop := context.WithCancel(ctx)
	var attackers sync.WaitGroup
	for _, attack := range hostile.attacks() {
		for range 3 {
			attackers.Go(func() {
				for attacked.Err() == nil {
					attack(attacked)
				}
			})
		}
	}
	beside, err := quiet.days(ctx, time.Duration(o.seconds)*time.Second)
	stop()
	attackers.Wait()
	if err != nil {
		return fmt.Errorf("beside the attacks: %w", err)
	}
	for _, p := range []float64{50, 99} {
		a, b := rig.Percentile(beside, p), rig.Percentile(alone, p)
		fmt.Printf("p%.0f of %d requests beside attacks %v, of %d alone %v: %.2f times\n", p, len(beside), a.Round(time.Microsecond), len(alone), b.Round(time.Microsecond), float64(a)/float64(b))
	}
	fmt.Printf("wanted: p99 at most %.0f times\n", wanted)
	return nil
}

// workspace is one that makes requests.
type workspace struct{ url, key, feed string }

// do makes a request and returns the answer, whatever its status.
func (w *workspace) do(ctx context.Context, method, path, contentType, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// upload makes a feed and returns its id.
func (w *workspace) upload(ctx context.Context, body string) (string, error) {
	status, answer, err := w.do(ctx, http.MethodPost, "/data_feeds?type=dataUpload", "application/json", body)
	if err != nil || status != http.StatusCreated {
		return "", fmt.Errorf("upload: %d %s, %w", status, answer, err)
	}
	_, after, _ := strings.Cut(answer, `"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id, nil
}

// days goes about the workspace's business for a while, and returns how long each
// request took. One that fails ends it.
func (w *workspace) days(ctx context.Context, length time.Duration) (times []time.Duration, err error) {
	for end := time.Now().Add(length); time.Now().Before(end); {
		for _, step := range []struct{ method, path, body string }{
			{http.MethodPut, "/data_feeds/" + w.feed + "/data", `[{"a":1},{"a":2}]`},
			{http.MethodGet, "/data_feeds/" + w.feed + "/data", ""},
			{http.MethodPost, "/data_feeds/" + w.feed + "/query", `{"fields":[{"field":"a","aggregate":"max"}]}`},
			{http.MethodPost, "/events", `{"type":"metric.created"}`},
		} {
			began := time.Now()
			status, answer, err := w.do(ctx, step.method, step.path, "application/json", step.body)
			if err != nil || status >= 300 {
				return nil, fmt.Errorf("%s %s: %d %s, %w", step.method, step.path, status, answer, err)
			}
			times = append(times, time.Since(began))
		}
	}
	return times, nil
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

// attacks are requests that were found to take the service from others.
func (w *workspace) attacks() []func(context.Context) {
	var sparse strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&sparse, "{\"c%d\":1}\n", i)
	}
	document := `{"big":"` + strings.Repeat("x", 8<<20) + `","items":[` + strings.Repeat("1,", 100_000) + `1]}`
	brackets := "[" + strings.Repeat("[],", 1<<20/3-10) + "[]]"
	send := func(method, path, contentType, body string) func(context.Context) {
		return func(ctx context.Context) {
			if status, _, err := w.do(ctx, method, path, contentType, body); status == http.StatusTooManyRequests && err == nil {
				time.Sleep(100 * time.Millisecond)
			}
		}
	}
	return []func(context.Context){
		send(http.MethodPost, "/data_feeds/preview?type=dataUpload&path=%24.items%5B%3Flength(%24.big)%3E1%5D", "application/json", document),
		send(http.MethodPost, "/data_feeds?type=dataUpload", "application/x-ndjson", sparse.String()),
		send(http.MethodPost, "/data_feeds/"+w.feed+"/query", "application/json", `{"fields":[{"field":"text","filters":[{"op":"matches","values":["(x+x+)+y(x|y){1,200}"]}]}]}`),
		send(http.MethodPost, "/events/subscriptions", "application/json", brackets),
	}
}
