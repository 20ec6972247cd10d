package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/table"
	"github.com/feedmill/feedmill/bench/internal/upstream"
	"github.com/feedmill/feedmill/client"
)

// guard compares two programs.
type guard struct {
	amounts
	// sides are the base and the working tree, in this order.
	sides [2]*side
	// files are the data that was made, by name.
	files map[string]file
	// sink and source are started when they are needed first.
	sink   *rig.Sink
	source *upstream.Source
}

// file is data to upload.
type file struct {
	path, format string
	table.Amount
}

// side is one of the programs, with a rig of its own for each store.
type side struct {
	name, program string
	rigs          map[string]*rig.Rig
	// mills are the servers of the current figure.
	mills []*rig.Mill
}

// prepare builds both programs and what the figures need.
func (g *guard) prepare(ctx context.Context, base string, figures []figure) error {
	program, hash, err := buildBase(ctx, base)
	if err != nil {
		return err
	}
	g.files = make(map[string]file)
	g.sides[0] = &side{name: "base", program: program, rigs: make(map[string]*rig.Rig)}
	g.sides[1] = &side{name: "working tree", rigs: make(map[string]*rig.Rig)}
	if err := g.sides[0].open(ctx, "sqlite", false); err != nil {
		return err
	}
	g.sides[1].program = filepath.Join(g.folder(), "feedmill")
	root, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := build(ctx, root, g.sides[1].program); err != nil {
		return err
	}
	if err := g.sides[1].open(ctx, "sqlite", true); err != nil {
		return err
	}
	if slices.ContainsFunc(figures, func(f figure) bool { return f.store == "postgres" }) {
		for _, s := range g.sides {
			if err := s.open(ctx, "postgres", true); err != nil {
				return err
			}
		}
	}
	tree, err := git(ctx, "describe", "--always", "--dirty", "--abbrev=12")
	if err != nil {
		return err
	}
	fmt.Printf("base %.12s, working tree %s, %d rounds\n", hash, tree, g.rounds)
	return nil
}

// open makes the rig of a store.
func (s *side) open(ctx context.Context, store string, quiet bool) (err error) {
	s.rigs[store], err = rig.New(ctx, rig.Options{Feedmill: s.program, Store: store, Quiet: quiet})
	return err
}

// folder is where files go; it is removed at the end.
func (g *guard) folder() string { return g.sides[0].rigs["sqlite"].Folder() }

// close stops what was started and removes all files.
func (g *guard) close() (err error) {
	if g.sink != nil {
		g.sink.Stop()
	}
	if g.source != nil {
		g.source.Stop()
	}
	for _, s := range g.sides {
		if s == nil {
			continue
		}
		err = errors.Join(err, s.stop())
		for _, r := range s.rigs {
			if r != nil {
				err = errors.Join(err, r.Close())
			}
		}
	}
	return err
}

// start starts a server that runs until the end of the figure.
func (s *side) start(ctx context.Context, store string) (*subject, error) {
	r := s.rigs[store]
	m, err := r.Start(ctx, s.program)
	if err != nil {
		return nil, err
	}
	s.mills = append(s.mills, m)
	return &subject{Mill: m, rig: r}, nil
}

// stop stops the servers of the current figure.
func (s *side) stop() (err error) {
	for _, m := range s.mills {
		err = errors.Join(err, m.Close())
	}
	s.mills = nil
	return err
}

// roundPatience bounds a round.
const roundPatience = 3 * time.Minute

// compare measures a figure on both sides, in turns.
func (g *guard) compare(ctx context.Context, f figure) (results []result, err error) {
	defer func() {
		for _, s := range g.sides {
			err = errors.Join(err, s.stop())
		}
	}()
	var rounds [2]round
	for i, s := range g.sides {
		// The first round starts workers and fills caches, and tells whether the program can do it.
		rounds[i], err = f.open(ctx, g, s)
		if err == nil {
			_, err = g.once(ctx, rounds[i])
		}
		if refusal, ok := errors.AsType[*client.Problem](err); ok && i == 0 && refusal.Status/100 == 4 {
			return f.skip(refusal), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if err := sleep(ctx, f.settle); err != nil {
		return nil, err
	}
	taken := make([]pairs, len(f.rows))
	for n := range g.rounds {
		for turn := range g.sides {
			i := (n + turn) % len(g.sides)
			samples, err := g.once(ctx, rounds[i])
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", g.sides[i].name, n+1, err)
			}
			for j, sample := range samples {
				taken[j].add(i, sample)
			}
		}
	}
	return f.results(taken)
}

func (g *guard) once(ctx context.Context, r round) ([]sample, error) {
	ctx, cancel := context.WithTimeout(ctx, roundPatience)
	defer cancel()
	return r(ctx)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// subject is a server that is measured.
type subject struct {
	*rig.Mill
	rig *rig.Rig
}

// spend measures work: the CPU time of the server, its workers and its database until they are idle
// again, and how long the work itself took.
func (s *subject) spend(ctx context.Context, work func() error) (cpu, clock time.Duration, err error) {
	if _, err := s.Rested(ctx); err != nil {
		return 0, 0, err
	}
	used, began := s.used(), time.Now()
	err = work()
	clock = time.Since(began)
	if err == nil {
		_, err = s.Rested(ctx)
	}
	return s.used() - used, clock, err
}

func (s *subject) used() time.Duration { return s.CPUTime() + s.rig.DatabaseTime() }
