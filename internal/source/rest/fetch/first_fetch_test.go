package fetch

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/shape"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// fullDefinition uses every part of a definition.
const fullDefinition = `{"name":"Orders","description":"d","request":{"method":"POST","url":"https://api.test:8443/{{today-7d}}/x?since={{now|unix}}&api_key=SECRET1",
	"query":{"a":1,"b":[true,"x"],"token":"SECRET2"},"headers":{"X-Key":"SECRET3","Accept":"text/csv"},"body":{"kind":"json","value":{"from":"{{cursor}}","password":"SECRET4"}},"timeout":"1m"},
	"auth":{"kind":"login","request":{"url":"https://id.test/login","body":{"kind":"form","value":{"user":"SECRET5","pass":"SECRET6"}}},"tokenPath":"$..token","header":"X-Auth","prefix":""},
	"response":{"format":"json","path":"$.data[*]","explode":"lines[*]","types":"text"},
	"pagination":{"kind":"cursor","path":"$.next","param":"/page/after","in":"body","maxPages":5,"maxBytes":1000},
	"incremental":{"cursorPath":"$.meta.updated","param":{"in":"header","name":"X-Since"},"start":"{{today-30d}}","lookback":"1h"},
	"retry":{"maxAttempts":3},"rateLimit":{"requests":5,"per":"1s"},
	"errors":[{"status":[404,410],"action":"ignore"},{"bodyPath":"$.error","action":"fail"}],
	"schedule":{"cron":"0 6 * * 1-5","timezone":"Europe/Paris"},"mode":"merge","key":["id"]}`

// FuzzFirstFetch looks for a definition that is accepted and cannot be fetched: what was defined
// can be read again, and its first two pages can be asked for.
func FuzzFirstFetch(f *testing.F) {
	for _, body := range []string{
		fullDefinition,
		`{"request":{"url":"https://a.test/?y={{now}}&c={{cursor}}"},"incremental":{"cursorPath":"$.a","start":7}}`,
		`{"request":{"method":"POST","url":"https://a.test/","body":{"kind":"json","value":{"p":{"n":1}}}},"pagination":{"kind":"cursor","path":"$.t","param":"p.after","in":"body"}}`,
		`{"request":{"method":"POST","url":"https://a.test/"},"pagination":{"kind":"offset","param":"a.b","sizeParam":"a.c","size":5,"in":"body"}}`,
		`{"request":{"url":"https://a.test/","body":{"kind":"graphql","query":"{a}","variables":{"x":{}}}},"pagination":{"kind":"cursor","path":"$.t","param":"variables.x.after"}}`,
		`{"request":{"url":"https://a.test/"},"pagination":{"kind":"nextUrl","path":{"xml":"/feed/link[@rel='next']/@href"}},"errors":[{"bodyPath":"$.a","equals":null,"action":"fail"}]}`,
		`{"request":{"url":"https://a.test/"},"response":{"path":"$.a[*]","names":["$.n[*]"],"values":["$[*]"],"nulls":"-"},"columns":[{"name":"a","path":"$.a","type":"date","format":"unix"}]}`,
		`{"request":{"url":"https://a.test/"},"incremental":{"step":"1d","start":"2026-01-01","format":"unix","param":{"name":"q.from","in":"query"},"to":{"name":"to"}}}`,
	} {
		f.Add([]byte(body))
	}
	fetcher := NewFetcher(Options{})
	spool, err := os.CreateTemp(f.TempDir(), "spool")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = spool.Close() })
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := spec.Parse(body, 0)
		if err != nil {
			return
		}
		restored, err := spec.Restore(d.SourceSpec(), d.Secrets(), d.Rules)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		response, err := spec.ResponseOf(d.Public(), d.Rules)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if _, err := shape.Reading(restored, response, new(spec.Cursor), feedmill.Fetch{Spool: spool}, feedmill.Feed{}, nil); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		r, err := fetcher.newRun(Job{Spec: restored, Spool: spool, Now: time.Unix(1767225600, 0)})
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		s := &sequence{run: r, at: r.at}
		if restored.Incremental != nil && restored.Incremental.Step > 0 {
			s.at = window{time.Unix(0, 0), time.Unix(86400, 0)}.in(s.at, restored.Incremental)
		}
		token := find.Value{Kind: '"', Raw: []byte(`"t"`)}
		for _, step := range []step{{number: 1}, {number: 2, token: &token, count: 5}} {
			if _, err := s.build(context.Background(), step); err != nil && len(body) < 4<<10 {
				t.Fatalf("%s: page %d: %v", body, step.number, err)
			}
		}
	})
}
