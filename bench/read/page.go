package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

const (
	pageRows = 100
	// targetFirst is that of the first page, targetPage that of each other one.
	targetFirst = 1.1
	targetPage  = 1.5
)

// page is a page to read, and the SQL that selects the same rows in the same
// order. %s is the table.
type page struct {
	name   string
	target float64
	query  client.RowQuery
	sql    string
}

// pages are those that are read of a feed; deep is the cursor of a page far in.
func pages(f feed, deep string) []page {
	return []page{
		{"first page", targetFirst, client.RowQuery{}, "SELECT * FROM %s LIMIT 100"},
		{"filtered page", targetPage, client.RowQuery{Filters: []string{"city:eq:Aarhus", "amount:gt:9900"}}, "SELECT * FROM %s WHERE city = 'Aarhus' AND amount > 9900 LIMIT 100"},
		{
			"filtered page, rare rows", targetPage,
			client.RowQuery{Filters: []string{"customer:eq:customer-4711,customer-4712"}},
			"SELECT * FROM %s WHERE customer IN ('customer-4711', 'customer-4712') LIMIT 100",
		},
		{
			"sorted page", targetPage,
			client.RowQuery{Sort: "-amount"},
			"SELECT * EXCLUDE (file_row_number) FROM %s ORDER BY amount DESC NULLS LAST, file_row_number LIMIT 100",
		},
		{
			"deep page", targetPage,
			client.RowQuery{Cursor: deep},
			fmt.Sprintf("SELECT * EXCLUDE (file_row_number) FROM %%s WHERE file_row_number >= %d LIMIT 100", deepRows(f.RowCount)),
		},
	}
}

// deepRows is how many rows lie before the deep page.
func deepRows(all int64) int64 { return all / 10 * 9 }

func readPages(ctx context.Context, r *rig.Rig, mill *rig.Mill, o options, wanted func(string) bool) (err error) {
	if !wanted("first page, filtered page, rare rows, sorted page, deep page") {
		return nil
	}
	f, err := newFeed(ctx, r, mill, o.rows)
	if err != nil {
		return err
	}
	deep, err := f.cursor(ctx, deepRows(f.RowCount))
	if err != nil {
		return err
	}
	bare, err := duck.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	// It remembers the footer of the file, as Feedmill's workers do.
	if _, err := bare.Run("SET parquet_metadata_cache = true"); err != nil {
		return err
	}
	for _, p := range pages(f, deep) {
		if !wanted(p.name) {
			continue
		}
		p.query.Limit = pageRows
		p.sql = fmt.Sprintf(p.sql, "read_parquet("+duck.Quote(f.file)+", file_row_number = true)")
		if err := p.measure(ctx, mill, f, bare, o); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// cursor is where to go on after so many rows. They are skipped by asking for
// them all, in the form that costs least, and taking none.
func (f feed) cursor(ctx context.Context, rows int64) (string, error) {
	skipped, err := f.ReadData(ctx, f.ID, client.RowQuery{Format: "arrow", Limit: rows})
	if err != nil {
		return "", err
	}
	return skipped.Next, skipped.Close()
}

// measure reads the page from both, in turns.
func (p page) measure(ctx context.Context, mill *rig.Mill, f feed, bare *duck.DuckDB, o options) error {
	if err := p.verify(ctx, f, bare); err != nil {
		return err
	}
	var ratios, byCPU []float64
	for range o.rounds {
		var ours, theirs []time.Duration
		var used, bareUsed time.Duration
		for range o.reads {
			began, before := time.Now(), mill.CPUTime()
			if _, err := p.read(ctx, f); err != nil {
				return err
			}
			ours, used = append(ours, time.Since(began)), used+mill.CPUTime()-before
			r, err := bare.Run(p.sql)
			if err != nil {
				return err
			}
			theirs, bareUsed = append(theirs, r.Wall), bareUsed+r.CPU
		}
		a, b := rig.Median(ours), rig.Median(theirs)
		ratios, byCPU = append(ratios, a.Seconds()/b.Seconds()), append(byCPU, used.Seconds()/bareUsed.Seconds())
		fmt.Printf("  %-26s %v, bare DuckDB %v\n", p.name, a, b)
	}
	fmt.Printf("%-26s median %.2f times the time of a bare DuckDB (target: at most %.1f), %.2f by CPU time\n", p.name, rig.Median(ratios), p.target, rig.Median(byCPU))
	return nil
}

func (p page) read(ctx context.Context, f feed) ([]byte, error) {
	rows, err := f.ReadData(ctx, f.ID, p.query)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(rows)
	return text, errors.Join(err, rows.Close())
}

// verify wants the same rows of both.
func (p page) verify(ctx context.Context, f feed, bare *duck.DuckDB) error {
	text, err := p.read(ctx, f)
	if err != nil {
		return err
	}
	var rows []struct {
		ID uint64 `json:"id"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		return err
	}
	var sum uint64
	for _, row := range rows {
		sum += row.ID
	}
	r, err := bare.Run("SELECT count(*)::BIGINT, sum(id)::BIGINT FROM (" + p.sql + ")")
	if err != nil {
		return err
	}
	if len(r.First) != 2 || r.First[0] != uint64(len(rows)) || r.First[1] != sum || len(rows) == 0 {
		return fmt.Errorf("the pages differ: Feedmill's has %d rows and ids that sum up to %d, DuckDB's %d", len(rows), sum, r.First)
	}
	return nil
}
