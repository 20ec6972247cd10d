package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestBadNeighbours subscribes endpoints that never answer, answer without end
// and answer with a little that unpacks to very much, beside healthy ones. What
// is for the healthy arrives, and the server's memory stays small.
func TestBadNeighbours(t *testing.T) {
	t.Parallel()
	bomb := gzipBomb(t)
	var met [3]atomic.Int64
	end := make(chan struct{})
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/silent":
			met[0].Add(1)
			select {
			case <-r.Context().Done():
			case <-end:
			}
		case "/endless":
			met[1].Add(1)
			for line := bytes.Repeat([]byte("and so on "), 1<<10); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		case "/bomb":
			met[2].Add(1)
			w.Header().Set("Content-Encoding", "gzip")
			for range 1 << 10 {
				if _, err := w.Write(bomb); err != nil {
					return
				}
			}
		}
	}))
	defer bad.Close()
	defer close(end)

	book := newLedger()
	sink := book.sink(t)
	p := serve(t, t.TempDir(), onLoopback...)
	for _, path := range []string{"silent", "endless", "bomb"} {
		p.subscribe(t, fmt.Sprintf(`{"url":"%s/%s","events":["metric.*"],"delivery":{"timeout":"1s"}}`, bad.URL, path))
	}
	book.subscribe(t, p, sink)
	stop := book.publish(t, "1")
	book.awaitAcknowledged(t, 300)
	eventually(t, "every bad endpoint has been tried often", func() bool {
		return met[0].Load() > 5 && met[1].Load() > 50 && met[2].Load() > 50
	})
	stop()
	n, _ := book.awaitAll(t)
	t.Logf("%d events; %d attempts at a silent, %d at an endless, %d at a bursting endpoint; %s",
		n, met[0].Load(), met[1].Load(), met[2].Load(), p.memory(t))
	p.boundMemory(t, 200<<20)
	p.mustStop(t)
}

// gzipBomb is a gzip member of a few kilobytes that unpacks to 16 MiB. Members
// may follow each other in a body.
func gzipBomb(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for range 16 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
