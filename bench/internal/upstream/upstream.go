// Package upstream is the REST API that benchmarks fetch from: a process of its own on the loopback
// interface that has all of its pages in memory.
//
// A benchmark passes [Role] to rig.Main, and [Start] starts the process.
package upstream

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// Role is the process of the API. Its arguments are how many rows it has and in how many pages. A
// page names the next one by its number.
var Role = rig.Role{Name: "upstream", Run: func(args []string) error {
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
	return serve(makePages(rows, pages))
}}

// AppendRow appends one record, of about 100 bytes.
func AppendRow(dst []byte, id int) []byte {
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
			page = append(AppendRow(page, id), ',')
		}
		page = append(bytes.TrimSuffix(page, []byte(",")), `],"next":null}`...)
		if i+1 < count {
			page = fmt.Appendf(bytes.TrimSuffix(page, []byte(`null}`)), `"%d"}`, i+1)
		}
		pages[i] = page
	}
	return pages
}

func serve(pages [][]byte) error {
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
			page = []byte(`{"data":[` + string(AppendRow(nil, 0)) + `],"next":null}`)
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		w.Write(page)
	})
	return rig.Serve(mux)
}
