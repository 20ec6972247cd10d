package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// pages measures a refresh of many pages against the least that it can be.
func pages(ctx context.Context, r *rig.Rig, o options) error {
	source, err := rig.StartRole(sourceRole.Name, strconv.Itoa(o.rows), strconv.Itoa(o.pages))
	if err != nil {
		return err
	}
	defer source.Stop()
	file := filepath.Join(r.Folder(), "rows.ndjson")
	if err := writeRows(file, o.rows); err != nil {
		return err
	}
	fmt.Printf("%d rows over %d pages\n", o.rows, o.pages)
	var walls, cpus []float64
	for range o.rounds {
		refreshed, err := refreshAll(ctx, r, source.Said, o)
		if err != nil {
			return err
		}
		fetched, err := discard(ctx, source.Said, o.pages)
		if err != nil {
			return err
		}
		syscall.Sync() // nobody pays for what another has written
		modelled, err := modelAlone(ctx, r, file, o.rows)
		if err != nil {
			return err
		}
		wall := refreshed.Wall.Seconds() / (fetched.Wall + modelled.Wall).Seconds()
		cpu := refreshed.CPU.Seconds() / (fetched.CPU + modelled.CPU).Seconds()
		fmt.Printf("  refresh %v\n  fetch   %v\n  model   %v\n  ratio %.2f, of CPU %.2f\n", refreshed, fetched, modelled, wall, cpu)
		walls, cpus = append(walls, wall), append(cpus, cpu)
	}
	fmt.Printf("%-40s median %.2f of fetching and modelling (wanted: at most %.2f), %.2f of their CPU\n",
		fmt.Sprintf("%d rows over %d pages", o.rows, o.pages), rig.Median(walls), wantedRatio, rig.Median(cpus))
	return nil
}

// lookEvery is short against a refresh and costs it little.
const lookEvery = 20 * time.Millisecond

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
	spec := fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"at","maxPages":%d}}`,
		source+"/rows", o.pages)
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
