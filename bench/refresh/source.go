package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// sourceRole is the API that is fetched from: its arguments are how many rows
// it has and in how many pages. A page names the next one by its number.
// It has the first page alone until POST /all.
var sourceRole = rig.Role{Name: "source", Run: func(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("the arguments are rows and pages")
	}
	rows, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	pages, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return serveSource(makePages(rows, pages))
}}

// row is one record, of about 100 bytes.
func row(dst []byte, id int) []byte {
	cities := [...]string{"Paris", "Lyon", "Köln", "San Francisco", "Łódź", "Aarhus"}
	mixed := uint64(id) * 0x9e3779b97f4a7c15 >> 20
	return fmt.Appendf(dst, `{"id":%d,"customer":"customer-%d","amount":%d.%02d,"placedAt":"2026-%02d-%02dT%02d:%02d:%02dZ","city":%q}`,
		id, mixed%100_000, mixed%10_000, mixed/7%100, 1+mixed%12, 1+mixed/3%28, mixed/5%24, mixed/11%60, mixed/13%60, cities[mixed/17%6])
}

// makePages makes the pages as they are sent.
func makePages(rows, count int) [][]byte {
	pages := make([][]byte, count)
	for i := range pages {
		page := []byte(`{"data":[`)
		for id := i * rows / count; id < (i+1)*rows/count; id++ {
			page = append(row(page, id), ',')
		}
		page = append(bytes.TrimSuffix(page, []byte(",")), `],"next":null}`...)
		if i+1 < count {
			page = fmt.Appendf(bytes.TrimSuffix(page, []byte(`null}`)), `"%d"}`, i+1)
		}
		pages[i] = page
	}
	return pages
}

func serveSource(pages [][]byte) error {
	var all atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("POST /all", func(http.ResponseWriter, *http.Request) { all.Store(true) })
	mux.HandleFunc("POST /first", func(http.ResponseWriter, *http.Request) { all.Store(false) })
	mux.HandleFunc("GET /rows", func(w http.ResponseWriter, r *http.Request) {
		at, _ := strconv.Atoi(r.FormValue("at"))
		if at < 0 || at >= len(pages) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		page := pages[at]
		if !all.Load() {
			page = []byte(`{"data":[` + string(row(nil, 0)) + `],"next":null}`)
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		w.Write(page)
	})
	return rig.Serve(mux)
}

// tell tells the source what it has.
func tell(source, what string) error {
	resp, err := http.Post(source+what, "", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
