package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// The first rows of a file are read without a join and by one thread, and they are the same
// whether the result is held in memory or fetched as it is found.
func TestFirstPage(t *testing.T) {
	p, dir := pool(t)
	r, store := lake.NewReader(folder(dir), p), folder(dir)
	in := table{columns: []feedmill.Column{{ID: "c1", Name: "id", Type: columnar.TypeInteger}, {ID: "c2", Name: "text", Type: columnar.TypeText}}}
	var want []string
	for i := range 3000 {
		in.rows = append(in.rows, []cell{big.NewRat(int64(i), 1), fmt.Sprint("text ", i)})
		want = append(want, fmt.Sprintf(`{"id":%d,"text":"text %d"}`+"\n", i, i))
	}
	v := in.write(t, store, "first.parquet")
	for _, limit := range []int64{1, 100, 1000, 1001, 2999, 3000, 10_001} {
		rows := want[:min(limit, int64(len(want)))]
		if got := read(t, r, v, feedmill.Query{Limit: limit}, wire.FormatNDJSON); got != strings.Join(rows, "") {
			t.Errorf("a page of %d rows: %.200q", limit, got)
		}
	}
	request, err := lake.Plan(v, "", feedmill.Query{Limit: 100}, wire.FormatNDJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := store.Lease(context.Background(), "first.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	request.SQL, request.Names, request.Limit = "EXPLAIN "+request.SQL, []string{"key", "plan"}, 0
	request.Files = map[string]string{"first.parquet": lease.Path}
	var plan bytes.Buffer
	if _, err := p.Run(context.Background(), request, &plan); err != nil {
		t.Fatal(err)
	}
	if text := plan.String(); strings.Contains(text, "JOIN") || !strings.Contains(text, "STREAMING_LIMIT") {
		t.Errorf("the plan of a first page:\n%s", strings.ReplaceAll(text, `\n`, "\n"))
	}
}

// A page that fails has the message of the database, and the worker goes on.
func TestPageThatFails(t *testing.T) {
	p, _ := pool(t)
	ask := func(sql string) (string, error) {
		var out bytes.Buffer
		_, err := p.Run(context.Background(), wire.Request{SQL: sql, Names: []string{"a"}, Format: wire.FormatNDJSON, Limit: 10}, &out)
		return out.String(), err
	}
	if _, err := ask("SELECT CAST('x' || i AS BIGINT) FROM range(3) t(i)"); err == nil || !strings.Contains(err.Error(), "'x0'") {
		t.Errorf("%v", err)
	}
	if got, err := ask("SELECT i FROM range(20) t(i)"); err != nil || strings.Count(got, "\n") != 10 {
		t.Errorf("%q, %v", got, err)
	}
}
