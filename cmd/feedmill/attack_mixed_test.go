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
		goroutines: int(number(t, metrics, `(?m)^go_goroutines (\S+)$`)), files: len(open), held: held,
		collections: int(number(t, metrics, `(?m)^go_gc_duration_seconds_count (\S+)$`)), goal: int(number(t, metrics, `(?m)^go_memstats_next_gc_bytes (\S+)$`)),
		temporary: p.temporary(t),
		working:   make(map[int]time.Duration),
	}
	for _, pid := range workers(p.cmd.Process.Pid) {
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

// workers are the processes that a server has started and that still run.
func workers(server int) (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", server))
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
	for _, pid := range append(workers(p.cmd.Process.Pid), p.cmd.Process.Pid) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, _ := strings.Cut(string(status), "RssAnon:")
		kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, _ := strconv.ParseInt(kilobytes, 10, 64)
		bytes += n << 10
	}
	return bytes
}

// awaitRest waits until nothing is left of what attackers had the server do who have left at some time: no more goroutines, files and memory than before but for some that are kept for the next
// request, such as connections to the store, and no worker that works. Bodies that
// are held for a handle are counted, and are no more than all workspaces may have. It must be so
// soon; the short form runs beside other tests and has ten times as long. It returns how long it took.
func (p *process) awaitRest(t *testing.T, before holding, from time.Time) time.Duration {
	t.Helper()
	within := longOr[time.Duration](10, 1) * leftWithin
	// The server has a socket, a pipe and a handle of each worker that waits for the next query: three of
	// feeds, one that is kept ready, and two of files of databases.
	const kept, most, heldAtMost, ofWorker, heap = 12, 6, 80, 3, 64 << 20
	http.DefaultClient.CloseIdleConnections()
	last := p.holding(t)
	left, rests := last, false
	for !rests && time.Since(from) < within {
		if last.collections == left.collections {
			p.litter(t)
		}
		time.Sleep(pause(from))
		http.DefaultClient.CloseIdleConnections()
		now := p.holding(t)
		rests = now.goroutines <= before.goroutines+kept && now.files <= before.files+kept+ofWorker*len(now.working) && now.temporary <= before.temporary+now.held+len(now.working) &&
			now.held <= heldAtMost && len(now.working) <= most && now.collections > left.collections && now.goal <= before.goal+2*heap
		for pid, used := range now.working {
			rests = rests && used == last.working[pid]
		}
		last = now
	}
	took := time.Since(from)
	t.Logf("after %v: %v, before %v", took.Round(time.Millisecond), last, before)
	if !rests || took > within {
		t.Errorf("something is left of the attack after %v", within)
	}
	return took
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
	URL, Key, Feed string
	source         string // of a table of nothing
}

// mix are requests that cost a lot, some of which are also forbidden.
func (h *hostile) mix() []*http.Request {
	document := `{"big":"` + strings.Repeat("x", 1<<20) + `","items":[` + strings.Repeat("1,", 20_000) + `1]}`
	ragged := strings.Repeat("a,", 5000) + "b\n" + strings.Repeat("1\n", 8_000)
	feed := "/data_feeds/" + h.Feed
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
		req, err := http.NewRequest(one.method, h.URL+one.path, strings.NewReader(one.body))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Authorization", "Bearer "+h.Key)
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

// others makes workspaces that attack too, each with a feed of long texts.
func others(count int) func(a *attacker) {
	return func(a *attacker) {
		for len(a.Others) < count {
			h := &hostile{URL: a.URL, Key: newOrdinaryKey(a.t, a.URL)}
			h.Feed = (&attacker{t: a.t, URL: a.URL, Key: h.Key}).upload(a.t.Context(), "application/x-ndjson", strings.NewReader(longTexts(40)))
			a.Others = append(a.Others, h)
		}
	}
}

// mixed has eight workspaces attack at the same time.
var mixed = attack{name: "all sorts of things from eight workspaces", lasts: 10 * time.Minute, prepare: others(8), run: func(ctx context.Context, a *attacker) {
	page := sparse(3000)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, page)
	}))
	defer source.Close()
	var all sync.WaitGroup
	for _, h := range a.Others {
		h.source = source.URL
		all.Go(func() {
			for round := 0; round == 0 || a.stopped.Err() == nil; round++ {
				if err := h.attack(ctx, round); err != nil {
					a.t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}}
