package main

import (
	"bufio"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// cellTable is a table of an id and some columns of large texts that cannot be compressed much.
type cellTable struct {
	format              string
	rows, columns, cell int
}

func (c cellTable) String() string {
	return fmt.Sprintf("%s of %d rows × %d columns × %d bytes", c.format, c.rows, c.columns, c.cell)
}

// texts writes the texts of a row with something before, between and after them.
func (c cellTable) texts(w io.Writer, row int, before func(column int) string, after string) {
	r := rand.New(rand.NewPCG(uint64(row), 1))
	random, text := make([]byte, 3<<10), make([]byte, 4<<10)
	for column := range c.columns {
		io.WriteString(w, before(column))
		for left := c.cell; left > 0; left -= len(text) {
			for i := 0; i < len(random); i += 8 {
				binary.LittleEndian.PutUint64(random[i:], r.Uint64())
			}
			base64.StdEncoding.Encode(text, random)
			w.Write(text[:min(left, len(text))])
		}
		io.WriteString(w, after)
	}
}

// write writes the table as a format, as Feedmill does.
func (c cellTable) write(to io.Writer, format string) {
	w := bufio.NewWriterSize(to, 64<<10)
	defer w.Flush()
	names := []string{"id"}
	for i := range c.columns {
		names = append(names, fmt.Sprintf("t%d", i))
	}
	switch format {
	case "csv":
		w.WriteString(strings.Join(names, ",") + "\r\n")
	case "json":
		w.WriteString("[")
	case "xml":
		w.WriteString("<rows>")
	}
	for row := range c.rows {
		switch format {
		case "csv":
			fmt.Fprint(w, row)
			c.texts(w, row, func(int) string { return "," }, "")
			w.WriteString("\r\n")
		case "xml":
			fmt.Fprintf(w, "<row><id>%d</id>", row)
			c.texts(w, row, func(int) string { return "<t0>" }, "</t0>") // one column only
			w.WriteString("</row>")
		default:
			if format == "json" && row > 0 {
				w.WriteString(",\n")
			}
			fmt.Fprintf(w, `{"id":%d`, row)
			c.texts(w, row, func(i int) string { return fmt.Sprintf(`,"t%d":"`, i) }, `"`)
			w.WriteString("}")
			if format == "ndjson" {
				w.WriteString("\n")
			}
		}
	}
	if format == "json" {
		w.WriteString("]\n")
	} else if format == "xml" {
		w.WriteString("</rows>")
	}
}

// sum returns the digest of the table in a format.
func (c cellTable) sum(format string) string {
	h := sha256.New()
	c.write(h, format)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestLargeCells stores tables of large cells, and reads them back byte by byte in every format, on
// a server with a memory group. The long form has the sizes that are promised for 512 MB, and needs
// 12 GB of disk.
func TestLargeCells(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { storeLargeCells(t) })
	t.Run("postgres", func(t *testing.T) {
		if longOr(true, false) {
			t.Skip("the store has no part in it; the long form tries both")
		}
		storeLargeCells(t, onPostgres(pgtest.New(t))...)
	})
}

func storeLargeCells(t *testing.T, env ...string) {
	group := newMemoryGroupOf(t, longOr(256<<20, attackMemory))
	p := serveLimited(t, group, slices.Concat(onLoopback, env, []string{"FEEDMILL_QUERY_TIMEOUT=10m"})...)
	type stored struct {
		cellTable
		feed string
	}
	tables := longOr([]cellTable{{"csv", 16, 1, 1_000_000}}, []cellTable{
		{"csv", 100, 1, 3_000_000}, {"json", 90, 1, 10_000_000}, {"ndjson", 100, 1, 3_000_000}, {"xml", 100, 1, 3_000_000}, {"csv", 3, 4, 16<<20 - 100}, {"json", 3, 4, 16<<20 - 100},
	})
	var all []stored
	for _, table := range tables {
		from, to := io.Pipe()
		go func() { table.write(to, table.format); to.Close() }()
		status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+"/data_feeds?type=dataUpload", map[string]string{"Content-Type": shapeTypes[table.format]}, from)
		if err != nil || status != http.StatusCreated {
			t.Errorf("%v: %d %.500s, %v", table, status, answer, err)
			continue
		}
		_, after, _ := strings.Cut(answer, `"id":"`)
		id, _, _ := strings.Cut(after, `"`)
		all = append(all, stored{table, id})
	}
	for _, s := range all {
		for _, format := range longOr([]string{"csv", "json"}, []string{"csv", "ndjson", "json"}) {
			if got := p.sumOf(t, s.feed, format); got != s.sum(format) {
				t.Errorf("%v as %s is %s", s, format, got)
			}
		}
		if got := p.sumOf(t, s.feed, "ndjson&sort=id"); got != s.sum("ndjson") {
			t.Errorf("%v sorted is %s", s, got)
		}
		for _, format := range longOr(nil, []string{"arrow", "parquet"}) {
			copied := p.copyAs(t, s.feed, format)
			if copied == "" {
				t.Errorf("%v cannot be copied as %s", s, format)
			} else if got := p.sumOf(t, copied, "ndjson"); got != s.sum("ndjson") {
				t.Errorf("%v by way of %s is %s", s, format, got)
			}
		}
		t.Logf("%v: the server holds %d MiB", s, p.resident()>>20)
	}
	p.fetchLargeCells(t)
	if group != "" && group.killed(t) > 0 {
		t.Error("a process was killed for want of memory")
	}
	p.mustStop(t)
}

// sumOf reads a feed in a format and returns the digest of its bytes, or the error.
func (p *process) sumOf(t *testing.T, feed, format string) string {
	t.Helper()
	h := sha256.New()
	if problem := p.export(t, feed, format, h); problem != "" {
		return problem
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// export writes a feed in a format to w, and returns what went wrong.
func (p *process) export(t *testing.T, feed, format string, w io.Writer) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/data_feeds/"+feed+"/data?limit=100000&format="+format, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+sharedFirstKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		problem, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return fmt.Sprintf("%d %s", resp.StatusCode, problem)
	}
	if _, err := io.Copy(w, resp.Body); err != nil {
		return err.Error()
	}
	return ""
}

// copyAs uploads an export of a feed and returns the id of the copy.
func (p *process) copyAs(t *testing.T, feed, format string) string {
	t.Helper()
	from, to := io.Pipe()
	go func() {
		if problem := p.export(t, feed, format, to); problem != "" {
			to.CloseWithError(fmt.Errorf("%s", problem))
			return
		}
		to.Close()
	}()
	status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+"/data_feeds?type=dataUpload&format="+format, map[string]string{"Content-Type": "application/octet-stream"}, from)
	from.Close()
	if err != nil || status != http.StatusCreated {
		t.Logf("a copy as %s: %d %.300s, %v", format, status, answer, err)
		return ""
	}
	_, after, _ := strings.Cut(answer, `"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// fetchLargeCells makes a feed of a view of PostgreSQL whose rows have 8 MB each.
func (p *process) fetchLargeCells(t *testing.T) {
	t.Helper()
	rows, repeats := longOr(8, 100), longOr(30_000, 250_000)
	address := pgtest.New(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), fmt.Sprintf(`CREATE VIEW large AS SELECT i AS id, repeat(md5(i::text), %d) AS t FROM generate_series(1, %d) i`, repeats, rows)); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"serviceName": "large", "connector": "postgres", "config": reachable(t, address)})
	if err != nil {
		t.Fatal(err)
	}
	must(t, http.StatusCreated, sharedFirstKey, p.url+"/connections", string(text))
	const query = `{"name":"large","serviceName":"large","viewName":"large","query":{"fields":[{"field":"id"},{"field":"t"}],"sort":[{"field":"id"}]}}`
	if status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+"/data_feeds/preview?type=queryBuilder", nil, strings.NewReader(query)); status != http.StatusOK && status != http.StatusUnprocessableEntity || err != nil {
		t.Errorf("a preview: %d %.300s, %v", status, answer, err)
	}
	feed := must(t, http.StatusCreated, sharedFirstKey, p.url+"/data_feeds?type=queryBuilder", query)["id"].(string)
	eventually(t, "the rows are fetched", func() bool {
		f, err := p.client(sharedFirstKey).DataFeed(t.Context(), feed)
		if err == nil && f.LastError != nil {
			t.Fatalf("the feed: %+v", f.LastError)
		}
		return err == nil && f.Version == 1
	})
	sums := map[string]hash.Hash{"ndjson": sha256.New(), "csv": sha256.New()}
	io.WriteString(sums["csv"], "\"id\",\"t\"\r\n") // a row of nulls could follow
	list, err := db.QueryContext(t.Context(), `SELECT i, md5(i::text) FROM generate_series(1, $1) i`, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var id int
		var sum string
		if err := list.Scan(&id, &sum); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sums["ndjson"], "{\"id\":%d,\"t\":\"%s\"}\n", id, strings.Repeat(sum, repeats))
		fmt.Fprintf(sums["csv"], "%d,%s\r\n", id, strings.Repeat(sum, repeats))
	}
	for format, want := range sums {
		if got := p.sumOf(t, feed, format); got != fmt.Sprintf("%x", want.Sum(nil)) {
			t.Errorf("the view as %s is %s", format, got)
		}
	}
}
