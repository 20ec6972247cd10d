package fetch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// maxParallel is how many units of one fetch are asked for at the same time.
const maxParallel = 4

// unit is a part of a fetch that is whole by itself: a window of time, what there is
// of one parent, or a window of a parent. A fetch without either has one.
type unit struct {
	// key tells it from the others, and is the same in the next fetch.
	key    string
	window *window
	parent *parent
	// late says that the window had passed when the parent was first seen.
	late bool
}

// moment is what tokens mean in a unit.
func (r *run) moment(u unit) (spec.Moment, error) {
	m := r.at
	if u.parent != nil {
		m.Values = u.parent.texts
	}
	inc := r.spec.Incremental
	if u.window != nil {
		return u.window.in(m, inc), nil
	}
	if inc != nil && u.parent != nil {
		var err error
		m.Cursor, err = inc.Sent(r.from.Parents[u.parent.key], m, r.spec.Zone)
		return m, err
	}
	return m, nil
}

// errBroken ends the units that are running when another has failed.
var errBroken = errors.New("another part of the fetch has failed")

// each fetches units: some at the same time, and their pages go to the sink in the
// order of the units. It returns how many rows each had.
func (r *run) each(ctx context.Context, units []unit) (rows []rowCounts, err error) {
	rows = make([]rowCounts, len(units))
	r.all = int64(len(units))
	done, err := r.replay(ctx, units, rows)
	if err != nil {
		return nil, err
	}
	r.progress(int64(done))
	if r.stage == nil {
		return rows, r.oneByOne(ctx, units, done, rows)
	}
	return rows, r.together(ctx, units, done, rows)
}

// oneByOne fetches units from one on.
func (r *run) oneByOne(ctx context.Context, units []unit, from int, rows []rowCounts) error {
	l, err := r.lane(0)
	if err != nil {
		return err
	}
	turn := make(chan struct{})
	close(turn)
	for i := from; i < len(units) && err == nil && !r.result.NotModified; i++ {
		rows[i], err = r.unit(ctx, units[i], l, turn)
	}
	return err
}

// together fetches units from one on, some at the same time.
func (r *run) together(ctx context.Context, units []unit, from int, rows []rowCounts) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free := make(chan *lane, maxParallel)
	for i := range maxParallel {
		l, err := r.lane(i)
		if err != nil {
			return err
		}
		free <- l
	}
	// A unit has its turn when the one before it is done.
	turn := make(chan struct{})
	close(turn)
	var running sync.WaitGroup
	var failed error
	var once sync.Once
	for i := from; i < len(units) && ctx.Err() == nil; i++ {
		l := <-free
		mine, next := turn, make(chan struct{})
		turn = next
		running.Go(func() {
			defer func() { free <- l }()
			n, err := r.guarded(ctx, units[i], l, mine)
			if err != nil {
				once.Do(func() { failed = err })
				cancel(errBroken)
				return
			}
			rows[i] = n
			close(next)
		})
	}
	running.Wait()
	if failed == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed
}

// guarded is unit, with a panic as an error.
func (r *run) guarded(ctx context.Context, u unit, l *lane, turn <-chan struct{}) (rows rowCounts, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return r.unit(ctx, u, l, turn)
}

// unit fetches one unit. Its pages go to the sink when it has its turn.
func (r *run) unit(ctx context.Context, u unit, l *lane, turn <-chan struct{}) (rowCounts, error) {
	m, err := r.moment(u)
	if err != nil {
		return nil, err
	}
	s := &sequence{run: r, at: m, lane: l, turn: turn, unit: u}
	if err := s.pages(ctx); err != nil {
		return nil, err
	}
	return s.rows, r.finish(u, s.staged)
}

// finish ends a unit whose turn it is: its pages are kept, and its newest cursor.
func (r *run) finish(u unit, pages []stagedPage) error {
	r.noteCursor(u)
	r.progress(1)
	if r.stage == nil {
		return nil
	}
	return r.stage.add(stagedUnit{Key: u.key, Pages: pages, Notes: r.job.Notes.soFar()})
}

// progress tells that so many more units are done, where there are any.
func (r *run) progress(more int64) {
	if r.done += more; r.all > 1 && r.job.Progress != nil {
		r.tracing.Lock()
		defer r.tracing.Unlock()
		r.job.Progress(r.done, r.all)
	}
}

// noteCursor notes the newest cursor of the parent of a unit.
func (r *run) noteCursor(u unit) {
	if u.parent == nil || r.job.Cursor == nil {
		return
	}
	newest := r.job.Cursor.TakeNewest()
	r.result.SawCursor = r.result.SawCursor || newest != ""
	var c spec.Cursor
	c.See([]byte(r.cursors[u.parent.key]))
	c.See([]byte(newest))
	if c.Newest() != "" {
		r.cursors[u.parent.key] = c.Newest()
	}
}
