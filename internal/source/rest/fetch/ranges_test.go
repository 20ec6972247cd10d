package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// listOf serves some of so many records.
func listOf(w http.ResponseWriter, status, first, last int) {
	var records []string
	for i := first; i <= last; i++ {
		records = append(records, fmt.Sprintf(`{"id":%d}`, i))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, "["+strings.Join(records, ",")+"]")
}

func TestRanges(t *testing.T) {
	// heroku names the next range itself, as its platform API does.
	heroku := func(w http.ResponseWriter, r *http.Request) {
		from := 0
		if text := r.Header.Get("Range"); text != "" {
			if n, _ := fmt.Sscanf(text, "id ]%d..; max=3", &from); n != 1 {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		}
		last, status := min(from+3, 8), http.StatusOK
		w.Header().Set("Content-Range", fmt.Sprintf("id %d..%d", from+1, last))
		if last < 8 {
			status = http.StatusPartialContent
			w.Header().Set("Next-Range", fmt.Sprintf("id ]%d..; max=3", last))
		}
		if from == 3 {
			listOf(w, status, 1, 0) // an empty page that names the next one
			return
		}
		listOf(w, status, from+1, last)
	}
	// postgREST knows how many there are, or not.
	postgREST := func(total, unit, equals string, past int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			first, last := 0, 2
			if text := r.Header.Get("Range"); text != "" {
				if n, _ := fmt.Sscanf(text, equals+"%d-%d", &first, &last); n != 2 {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
			}
			if last = min(last, 7); first > last {
				w.Header().Set("Content-Range", unit+"*/"+total)
				listOf(w, past, 1, 0)
				return
			}
			w.Header().Set("Content-Range", fmt.Sprintf("%s%d-%d/%s", unit, first, last, total))
			listOf(w, http.StatusPartialContent, first, last)
		}
	}
	for _, test := range []struct {
		name    string
		serve   http.HandlerFunc
		records int64
		failure string
		asked   int
	}{
		{"Heroku", heroku, 5, "", 3},
		{"PostgREST", postgREST("8", "", "", 416), 8, "", 3},
		{"units", postgREST("8", "items ", "items=", 416), 8, "", 3},
		{"no total and 416", postgREST("*", "", "", 416), 8, "", 4},
		{"no total and an empty page", postgREST("*", "", "", 200), 8, "", 4},
		{"no ranges at all", func(w http.ResponseWriter, _ *http.Request) { listOf(w, 200, 0, 4) }, 5, "", 1},
		{"ranges that are ignored", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "0-2/8")
			listOf(w, 200, 0, 2)
		}, 0, "pagination-loop", 2},
		{"parts of a file", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-20/80")
			listOf(w, 206, 0, 2)
		}, 0, "pagination", 1},
		{"numbers that overflow", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "items 0-9223372036854775807/*")
			listOf(w, 206, 0, 2)
		}, 3, "", 1},
		{"416 on the first page", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(416) }, 0, "source-status", 1},
	} {
		l := newLab(t)
		asked := 0
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			asked++
			test.serve(w, r)
		})
		_, result, err := l.fetch(`{"request":{"url":"https://api.test/"},"pagination":{"kind":"range"}}`)
		if FailureOf(err) != test.failure || err == nil && result.Records != test.records || asked != test.asked {
			t.Errorf("%s: %d requests, %+v %v", test.name, asked, result, err)
		}
	}
	for _, more := range []string{`"param":"x"`, `"path":"$.x"`, `"size":5`, `"in":"query"`} {
		if _, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"pagination":{"kind":"range",`+more+`}}`), 0); err == nil {
			t.Errorf("range takes %s", more)
		}
	}
}
