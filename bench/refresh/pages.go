package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// recordPath is where the records are in a page.
const recordPath = "$.data[*]"

// ratio is what a refresh took as a multiple of something else.
type ratio struct{ wall, cpu []float64 }

func (r *ratio) add(refreshed, fetched, modelled spent) {
	r.wall = append(r.wall, refreshed.Wall.Seconds()/(fetched.Wall+modelled.Wall).Seconds())
	r.cpu = append(r.cpu, refreshed.CPU.Seconds()/(fetched.CPU+modelled.CPU).Seconds())
}

// pages measures a refresh of many pages against the least that it can be.
func pages(ctx context.Context, r *rig.Rig, o options) error {
	source, err := rig.StartRole(sourceRole.Name, strconv.Itoa(o.rows), strconv.Itoa(o.pages))
	if err != nil {
		return err
	}
	defer source.Stop()
	files := concatenations(r.Folder())
	for _, file := range files {
		if err := file.write(o.rows); err != nil {
			return err
		}
	}
	ratios := make([]ratio, len(files))
	for range o.rounds {
		refreshed, err := refreshAll(ctx, r, source.Said, o)
		if err != nil {
			return err
		}
		fetched, err := discard(ctx, source.Said, o.pages)
		if err != nil {
			return err
		}
		fmt.Printf("  refresh         %v\n  fetch           %v\n", refreshed, fetched)
		for i, file := range files {
			syscall.Sync() // nobody pays for what another has written
			modelled, err := modelAlone(ctx, r, file, o.rows)
			if err != nil {
				return err
			}
			fmt.Printf("  model %-6s    %v\n", file.format, modelled)
			ratios[i].add(refreshed, fetched, modelled)
		}
	}
	for i, file := range files {
		fmt.Printf("%-40s median %.2f of fetching and modelling as %s (wanted: at most %.2f), %.2f of the CPU\n",
			fmt.Sprintf("%d rows over %d pages", o.rows, o.pages), rig.Median(ratios[i].wall), file.format, wantedRatio, rig.Median(ratios[i].cpu))
	}
	return nil
}

// lookEvery is so long that looking costs the refresh next to nothing; when it ended is
// what it says itself.
const lookEvery = 100 * time.Millisecond

// refreshAll has a feed with one row refreshed when the source has all of them:
// from the request to the end of the refresh.
func refreshAll(ctx context.Context, r *rig.Rig, source string, o options) (s spent, err error) {
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	if err := tell(source, "/first"); err != nil {
		return s, err
	}
	c := client.New(mill.URL, mill.Key)
	spec := fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":%q},"pagination":{"kind":"cursor","path":"$.next","param":"at","maxPages":%d}}`,
		source+"/rows", recordPath, o.pages)
	feed, err := c.CreateRestFeed(ctx, client.RestFeed{Spec: spec, Wait: time.Minute})
	if err != nil {
		return s, err
	}
	if feed.State != feedmill.FeedReady {
		return s, fmt.Errorf("the feed is %s", feed.State)
	}
	if err := tell(source, "/all"); err != nil {
		return s, err
	}
	syscall.Sync()
	used, began := mill.CPUTime(), time.Now()
	if _, err := c.RefreshDataFeed(ctx, feed.ID); err != nil {
		return s, err
	}
	for {
		if feed, err = c.DataFeed(ctx, feed.ID); err != nil {
			return s, err
		}
		if feed.LastRefresh.Ended() {
			break
		}
		time.Sleep(lookEvery)
	}
	s = spent{feed.LastRefresh.EndedAt.Sub(began), mill.CPUTime() - used}
	if feed.State != feedmill.FeedReady || feed.RowCount != int64(o.rows) {
		return s, fmt.Errorf("the feed is %s with %d rows: %+v", feed.State, feed.RowCount, feed.LastError)
	}
	return s, nil
}
