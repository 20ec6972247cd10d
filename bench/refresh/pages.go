package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/upstream"
	"github.com/feedmill/feedmill/client"
)

// ratio is what a refresh took as a multiple of something else.
type ratio struct{ wall, cpu []float64 }

func (r *ratio) add(refreshed, fetched, modelled spent) {
	r.wall = append(r.wall, refreshed.Wall.Seconds()/(fetched.Wall+modelled.Wall).Seconds())
	r.cpu = append(r.cpu, refreshed.CPU.Seconds()/(fetched.CPU+modelled.CPU).Seconds())
}

// pages measures a refresh of many pages against the least that it can be.
func pages(ctx context.Context, r *rig.Rig, o options) error {
	source, err := upstream.Start(o.rows, o.pages)
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
		refreshed, err := refreshAll(ctx, r, source)
		if err != nil {
			return err
		}
		fetched, err := discard(ctx, source, o.pages)
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

// refreshAll measures a refresh of a feed with one row when the source has all of them.
func refreshAll(ctx context.Context, r *rig.Rig, source *upstream.Source) (s spent, err error) {
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	c := client.New(mill.URL, mill.Key)
	feed, err := source.CreateFeed(ctx, c)
	if err != nil {
		return s, err
	}
	if err := source.OfferAll(); err != nil {
		return s, err
	}
	syscall.Sync()
	used := mill.CPUTime()
	took, err := source.Refresh(ctx, c, feed)
	return spent{took, mill.CPUTime() - used}, err
}
