package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// holding is what a server has besides its data.
type holding struct {
	goroutines, files int
	// temporary are the files in the folder for what does not last.
	temporary int
	// collections counts those of the garbage collector, and goal is how large the last of them
	// lets the heap become: about twice what was in use.
	collections, goal int
	// held are the files with bodies of previews, which stay for 15 minutes for
	// those who come back with the handle.
	held int
	// working is how much of the processors each of its workers has used.
	working map[int]time.Duration
}

func (h holding) String() string {
	return fmt.Sprintf("%d goroutines, %d files, %d temporary ones and %d of previews, a heap of %d MiB, workers %v", h.goroutines, h.files, h.temporary, h.held, h.goal>>20, h.working)
}

func (p *process) holding(t *testing.T) holding {
	t.Helper()
	_, metrics, err := send(http.MethodGet, p.url+"/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	held := int(number(t, metrics, `(?m)^feedmill_previews_held (\S+)$`))
	h := holding{
		goroutines: int(number(t, metrics, `(?m)^go_goroutines (\S+)$`)), files: len(open) - held, held: held,
		collections: int(number(t, metrics, `(?m)^go_gc_duration_seconds_count (\S+)$`)), goal: int(number(t, metrics, `(?m)^go_memstats_next_gc_bytes (\S+)$`)),
		temporary: p.temporary(t),
		working:   make(map[int]time.Duration),
	}
	for _, pid := range p.workers() {
		if used, err := processorTime(pid); err == nil { // else it has ended meanwhile
			h.working[pid] = used
		}
	}
	return h
}

// temporary counts the files in the folder for what does not last.
func (p *process) temporary(t *testing.T) (files int) {
	t.Helper()
	for _, arg := range p.cmd.Args {
		folder, ok := strings.CutPrefix(arg, "--data=")
		if !ok {
			continue
		}
		err := filepath.WalkDir(filepath.Join(folder, "temp"), func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files++
			}
			return nil // a file that was deleted meanwhile does not count
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// workers are the processes that the server has started and that still run.
func (p *process) workers() (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread that has ended has none
		for pid := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(pid); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// resident is how much memory the server and its workers hold, files apart.
func (p *process) resident() (bytes int64) {
	for _, pid := range append(p.workers(), p.cmd.Process.Pid) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, _ := strings.Cut(string(status), "RssAnon:")
		kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, _ := strconv.ParseInt(kilobytes, 10, 64)
		bytes += n << 10
	}
	return bytes
}

// awaitRest waits until nothing is left of what attackers had the server do, for restWithin at most:
// no more goroutines, files and memory than before but for some that are kept for the next
// request, such as connections to the store, and no worker that works. Bodies that
// are held for a handle are counted, and are no more than all workspaces may have.
func (p *process) awaitRest(t *testing.T, before holding) {
	t.Helper()
	// The server has a socket, a pipe and a handle of each worker that waits for the next query: three of
	// feeds, one that is kept ready, and two of files of databases.
	const kept, most, heldAtMost, ofWorker, heap = 12, 6, 80, 3, 64 << 20
	http.DefaultClient.CloseIdleConnections()
	began, last := time.Now(), p.holding(t)
	left, rests := last, false
	for !rests && time.Since(began) < restWithin {
		if last.collections == left.collections {
			p.litter(t)
		}
		time.Sleep(pause(began))
		http.DefaultClient.CloseIdleConnections()
		now := p.holding(t)
		rests = now.goroutines <= before.goroutines+kept && now.files <= before.files+kept+ofWorker*len(now.working) && now.temporary <= before.temporary+now.held+len(now.working) &&
			now.held <= heldAtMost && len(now.working) <= most && now.collections > left.collections && now.goal <= before.goal+2*heap
		for pid, used := range now.working {
			rests = rests && used == last.working[pid]
		}
		last = now
	}
	t.Logf("after %v: %v, before %v", time.Since(began).Round(time.Millisecond), last, before)
	if !rests {
		t.Errorf("something is left of the attack after %v", restWithin)
	}
}

// litter has the server allocate some memory for a moment, so that it collects its garbage.
func (p *process) litter(t *testing.T) {
	t.Helper()
	body := "[" + strings.Repeat("[],", 1<<20/3-10) + "[]]"
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+"/events/subscriptions", nil, strings.NewReader(body)); status != http.StatusBadRequest && status != http.StatusTooManyRequests || err != nil {
				t.Errorf("%d %.300s, %v", status, answer, err)
			}
		})
	}
	all.Wait()
}

// hostile is one of several workspaces that attack at the same time.
type hostile struct {
	url, key, feed string
	source         string // of a table of nothing
}

// mix are requests that cost a lot, some of which are also forbidden.
func (h *hostile) mix() []*http.Request {
	document := `{"big":"` + strings.Repeat("x", 1<<20) + `","items":[` + strings.Repeat("1,", 20_000) + `1]}`
	ragged := strings.Repeat("a,", 5000) + "b\n" + strings.Repeat("1\n", 8_000)
	feed := "/data_feeds/" + h.feed
	pattern := `{"field":"text","filters":[{"op":"matches","values":["(x+x+)+y(x|y){1,200}"]}]}`
	var all []*http.Request
	for _, one := range []struct{ method, path, contentType, body string }{
		{http.MethodPost, "/data_feeds/preview?type=dataUpload&path=" + escaped("$.items[?length($.big)>1]"), "application/json", document},
		{http.MethodPost, "/data_feeds?type=dataUpload", "text/csv", ragged},
		{http.MethodPost, "/data_feeds/preview?type=rest", "application/json", fmt.Sprintf(`{"request":{"url":%q}}`, h.source)},
		{http.MethodPost, feed + "/query", "application/json", `{"fields":[` + pattern + `]}`},
		{http.MethodGet, feed + "/data?format=parquet", "", ""},
		{http.MethodGet, feed + "/profile", "", ""},
		{http.MethodGet, feed + "/changes?from=1&to=2", "", ""},
		{http.MethodPut, feed + "/data", "application/x-ndjson", longTexts(20)},
		{http.MethodGet, "/events/stream", "", ""},
		{http.MethodPost, "/events/subscriptions", "application/json", "[" + strings.Repeat("[],", 1<<20/3-10) + "[]]"},
		{http.MethodPost, "/data_feeds/preview?type=dataUpload", "application/xml", "<r>" + strings.Repeat("<a><b/></a>", 10_000) + "</r>"},
		{http.MethodGet, feed + "/data?format=xlsx", "", ""},
	} {
		req, err := http.NewRequest(one.method, h.url+one.path, strings.NewReader(one.body))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Authorization", "Bearer "+h.key)
		if one.contentType != "" {
			req.Header.Set("Content-Type", one.contentType)
		}
		all = append(all, req)
	}
	return all
}

// attack makes each request of the mix for a while: some to their end, and some leave soon, or
// take nothing of the answer.
func (h *hostile) attack(ctx context.Context, round int) error {
	for i, req := range h.mix() {
		ctx, cancel := context.WithTimeout(ctx, []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, time.Second}[(i+round)%3])
		err := h.once(req.Clone(ctx))
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// once makes a request. That it does not come to its end is no fault.
func (h *hostile) once(req *http.Request) error {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if resp.StatusCode >= 500 && resp.StatusCode != http.StatusServiceUnavailable {
		return fmt.Errorf("%s %s: %d %.300s", req.Method, req.URL.Path, resp.StatusCode, answer)
	}
	return nil
}

// longTexts are lines of long texts.
func longTexts(rows int) string {
	return strings.Repeat(`{"text":"`+strings.Repeat("x", 20_000)+`"}`+"\n", rows)
}

// mixedAttack has eight workspaces attack at once, for ten minutes or, in the short form, one round
// each, beside one that goes about its business. Memory does not grow, and nothing
// is left when they have gone.
func mixedAttack(t *testing.T, p *process, n *neighbour, group memoryGroup) {
	page := sparse(3000)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, page)
	}))
	defer source.Close()
	var all []*hostile
	for i := range 8 {
		workspace := must(t, http.StatusCreated, sharedFirstKey, p.url+"/workspaces", fmt.Sprintf(`{"name":"hostile %d"}`, i))
		key := must(t, http.StatusCreated, sharedFirstKey, p.url+"/keys", fmt.Sprintf(`{"name":"k","scopes":["api:read","api:write"],"workspaceId":%q}`, workspace["id"]))
		h := &hostile{url: p.url, key: key["key"].(string), source: source.URL}
		status, answer, err := request(t.Context(), h.key, http.MethodPost, p.url+"/data_feeds?type=dataUpload", map[string]string{"Content-Type": "application/x-ndjson"}, strings.NewReader(longTexts(40)))
		if err != nil || status != http.StatusCreated {
			t.Fatalf("%d %s, %v", status, answer, err)
		}
		_, after, _ := strings.Cut(answer, `"id":"`)
		h.feed, _, _ = strings.Cut(after, `"`)
		all = append(all, h)
	}
	http.DefaultClient.CloseIdleConnections()
	before := p.holding(t)
	end := time.Now().Add(longOr(0, 10*time.Minute))
	var halves [2]int64
	n.beside(t, func(ctx context.Context) {
		var attackers sync.WaitGroup
		for _, h := range all {
			attackers.Go(func() {
				for round := 0; ; round++ {
					if err := h.attack(ctx, round); err != nil {
						t.Error(err)
						return
					}
					if !time.Now().Before(end) {
						return
					}
				}
			})
		}
		middle := time.Now().Add(time.Until(end) / 2)
		for time.Now().Before(end) {
			half := 0
			if time.Now().After(middle) {
				half = 1
			}
			halves[half] = max(halves[half], p.resident())
			time.Sleep(100 * time.Millisecond)
		}
		attackers.Wait()
	})
	source.Close() // connections to it are kept for a while, unless it ends them
	p.awaitRest(t, before)
	t.Logf("%d rounds of the neighbour; at most %d MiB in the first half and %d MiB in the second", n.rounds.Load(), halves[0]>>20, halves[1]>>20)
	if halves[1] > halves[0]+halves[0]/4 {
		t.Errorf("memory grows from %d MiB to %d MiB", halves[0]>>20, halves[1]>>20)
	}
	if group != "" && group.killed(t) > 0 {
		t.Error("a process was killed for want of memory")
	}
}
