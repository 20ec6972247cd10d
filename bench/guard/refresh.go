package main

import (
	"context"
	"time"

	"github.com/feedmill/feedmill/bench/internal/upstream"
	"github.com/feedmill/feedmill/client"
)

// rowsPerPage is how many rows a page of the REST source has.
const rowsPerPage = 1000

func refreshFigures() []figure {
	return []figure{{
		name: "refresh: REST", rows: []row{{measure: "CPU per row"}},
		open: func(ctx context.Context, g *guard, s *side) (round, error) {
			if g.source == nil {
				var err error
				if g.source, err = upstream.Start(g.fetched, g.fetched/rowsPerPage); err != nil {
					return nil, err
				}
			}
			server, err := s.start(ctx, "sqlite")
			if err != nil {
				return nil, err
			}
			c := client.New(server.URL, server.Admin)
			feed, err := g.source.CreateFeed(ctx, c)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) ([]sample, error) { return refreshRound(ctx, g, server, c, feed) }, nil
		},
	}}
}

// refreshRound refreshes a feed with one row to all rows, and back.
func refreshRound(ctx context.Context, g *guard, server *subject, c *client.Client, feed client.DataFeed) ([]sample, error) {
	if err := g.source.OfferAll(); err != nil {
		return nil, err
	}
	var took time.Duration
	cpu, _, err := server.spend(ctx, func() (err error) {
		took, err = g.source.Refresh(ctx, c, feed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return perUnit(cpu, took, float64(g.fetched)), g.source.Reset(ctx, c, feed)
}
