package main

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/table"
	"github.com/feedmill/feedmill/client"
)

// memoryFigures measure the largest resident memory of the server and its workers together. Each round has
// a server of its own, because a server keeps memory that it has used.
func memoryFigures() []figure {
	upload := func(kind table.Kind) func(context.Context, *guard, *subject) error {
		return func(ctx context.Context, g *guard, server *subject) error {
			data, err := g.table(kind, g.memory)
			if err != nil {
				return err
			}
			_, err = server.Upload(ctx, server.Admin, data.path, data.format)
			return err
		}
	}
	return []figure{
		memoryFigure("memory: upload of mixed CSV", "sqlite", upload(table.Mixed)),
		memoryFigure("memory: upload of NDJSON", "sqlite", upload(table.Objects)),
		memoryFigure("memory: upload, then export as xlsx", "sqlite", exportAll),
		memoryFigure("memory: delivery, SQLite", "sqlite", deliverAll),
		memoryFigure("memory: delivery, PostgreSQL", "postgres", deliverAll),
	}
}

func memoryFigure(name, store string, work func(context.Context, *guard, *subject) error) figure {
	return figure{
		name: name, store: store, rows: []row{{measure: "peak memory", memory: true}},
		open: func(_ context.Context, g *guard, s *side) (round, error) {
			return func(ctx context.Context) (samples []sample, err error) {
				defer func() { err = errors.Join(err, s.stop()) }()
				server, err := s.start(ctx, store)
				if err != nil {
					return nil, err
				}
				watch := server.Watch()
				err = work(ctx, g, server)
				peak, _ := watch.End()
				return []sample{{value: float64(peak.Total)}}, err
			}, nil
		},
	}
}

// exportAll uploads the feed that is read and exports it.
func exportAll(ctx context.Context, g *guard, server *subject) error {
	f, err := g.fill(ctx, server)
	if err != nil {
		return err
	}
	_, err = f.reading(client.RowQuery{Format: "xlsx"}, 1, 1, discard)(ctx)
	return err
}

// deliverAll delivers events that are published one at a time.
func deliverAll(ctx context.Context, g *guard, server *subject) error {
	if err := g.subscribe(ctx, server, rig.Counted, 1); err != nil {
		return err
	}
	_, _, err := server.Deliver(ctx, g.sink, publications[0].Publication, g.deliveries, nil)
	return err
}
