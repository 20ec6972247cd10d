package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Moves are the records of a store whose files are moved.
type Moves interface {
	Pinner
	AllKeptFiles(ctx context.Context) ([]feedmill.KeptFile, error)
	// StoredObjects lists files behind a name that a record has, or could get again.
	StoredObjects(ctx context.Context, after string, limit int) ([]string, error)
	// CloseFiles refuses new files for a while, and OpenFiles ends that.
	CloseFiles(ctx context.Context, move, target string, lease time.Duration) error
	KeepClosed(ctx context.Context, move, target string, lease time.Duration) error
	OpenFiles(ctx context.Context, move, target string) error
	// LoseWriting gives up files whose writers are gone, and counts those that are being written.
	LoseWriting(ctx context.Context, lease time.Duration) (writing int, err error)
	// FileLocation is the id of the location that the files are at, and its address.
	FileLocation(ctx context.Context) (location, place string, err error)
	// EndMove records the new location of the files, unless files were accepted meanwhile.
	EndMove(ctx context.Context, move, from, to, place string) error
}

// MoveOptions are what a move is made with.
type MoveOptions struct {
	// From is the id of the location that the files are at, and To that of the new one, at Place.
	From, To, Place string
	// Progress, if set, is called after each round with the files and bytes that were copied.
	Progress func(Moved)
	// Closed is how long new files are refused for one attempt to finish, 20 s if it is zero.
	Closed time.Duration
}

// Moved counts what a move has copied and verified.
type Moved struct {
	// Files is how many files the target has, and Copied those that it did not have before.
	Files, Copied int
	Bytes         int64
}

const (
	// closedTime is how long new files are refused, at most, if files are being written.
	closedTime = 20 * time.Second
	// reopenedTime is how long files can be written between two attempts.
	reopenedTime = 10 * time.Second
	// closedLease ends a refusal of new files if the command is killed.
	closedLease = feedmill.MoveLease
	// closingTries is how many attempts to finish are made. Files of a replica that was killed
	// keep a move from finishing for [feedmill.ObjectLease].
	closingTries = 30
	// closingPoll is how often the files that are being written are counted.
	closingPoll = 100 * time.Millisecond
	// smallRound is how many files may be left to copy while new files are refused.
	smallRound = 16
)

// move is a move of files.
type move struct {
	Moves
	from, to Files
	// done are the files that the target has, verified.
	done map[string]bool
	// found are the names at the target that are not verified yet.
	found map[string]bool
	moved Moved
}

// Move copies all files of a store to another location, while servers use the store, and records the
// new location. Every copy is read back and compared. An interrupted move is repeated.
func Move(ctx context.Context, records Moves, from, to Files, o MoveOptions) (moved Moved, err error) {
	m := &move{Moves: records, from: from, to: to, done: make(map[string]bool)}
	at, err := list(ctx, to)
	if err != nil {
		return moved, err
	}
	m.found = at.names
	id := "copy-" + rand.Text()
	err = Pinned(ctx, records, id, DefaultLease, func(ctx context.Context) error { return m.run(ctx, id, o) })
	return m.moved, err
}

func (m *move) run(ctx context.Context, id string, o MoveOptions) error {
	for {
		n, err := m.round(ctx)
		if err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(m.moved)
		}
		if n <= smallRound {
			break
		}
	}
	if o.Closed == 0 {
		o.Closed = closedTime
	}
	for range closingTries {
		ended, err := m.finish(ctx, id, o)
		if ended || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(reopenedTime, o.Closed)):
		}
	}
	return errors.New("files are still being written; nothing was switched. Run the command again when no large upload or refresh runs")
}

// finish refuses new files, waits for those that are being written, copies them and records the new
// location. It reports whether the move has ended: it has not if files are still being written.
func (m *move) finish(ctx context.Context, id string, o MoveOptions) (ended bool, err error) {
	if at, place, err := m.FileLocation(ctx); err != nil || at == o.To {
		return err == nil, err // another command has moved them to the same target
	} else if at != o.From {
		return false, fmt.Errorf("another 'feedmill files copy' has moved the files to %s meanwhile", place)
	}
	if err := m.CloseFiles(ctx, id, o.To, closedLease); err != nil {
		if errors.Is(err, feedmill.ErrConflict) {
			err = errors.New("another 'feedmill files copy' is about to finish; wait for it")
		}
		return false, err
	}
	defer func() {
		const openTime = 5 * time.Second
		opening, end := context.WithTimeout(context.WithoutCancel(ctx), openTime)
		defer end()
		_ = m.OpenFiles(opening, id, o.To) // else that ends with its lease
	}()
	for until := time.Now().Add(o.Closed); ; {
		writing, err := m.LoseWriting(ctx, feedmill.ObjectLease)
		if err != nil {
			return false, err
		}
		if writing == 0 {
			break
		}
		if time.Now().After(until) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(closingPoll):
		}
	}
	// No file gets a name any more, so this round is the last.
	if err := m.closedRound(ctx, id, o.To); err != nil {
		return false, err
	}
	err = m.EndMove(ctx, id, o.From, o.To, o.Place)
	if errors.Is(err, feedmill.ErrConflict) {
		return false, nil // the lease had ended and files were written, or another command was faster
	}
	return err == nil, err
}

// closedRound copies what is left, and keeps new files refused meanwhile.
func (m *move) closedRound(ctx context.Context, id, target string) error {
	working, end := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		tick := time.NewTicker(closedLease / 6)
		defer tick.Stop()
		for {
			select {
			case <-working.Done():
				return
			case <-tick.C:
				// If this fails, [Moves.EndMove] reports whether files were written meanwhile.
				_ = m.KeepClosed(working, id, target, closedLease)
			}
		}
	}()
	_, err := m.round(working)
	end(nil)
	<-renewed
	return err
}

// round copies the files that the target does not have, and returns how many there were.
func (m *move) round(ctx context.Context) (int, error) {
	files, err := m.missing(ctx)
	if err != nil {
		return 0, err
	}
	done, copied, bytes := make([]bool, len(files)), make([]bool, len(files)), make([]int64, len(files))
	err = each(ctx, len(files), func(ctx context.Context, i int) (_ *Finding, err error) {
		f, required := files[i].KeptFile, files[i].required
		got, ok := Part{}, false
		if m.found[f.Name] {
			if got, ok, err = m.same(ctx, f); err != nil {
				return nil, err
			}
		}
		if !ok {
			var found string
			got, found, err = copyFile(ctx, m.from, f, m.to, f.Name, f.Name)
			if found == missing && !required {
				return nil, nil // it was deleted
			}
			if err != nil || found != "" {
				return finding(f, found), err
			}
			if err := m.verify(ctx, f.Name, got); err != nil {
				return nil, err
			}
			copied[i] = true
		}
		done[i], bytes[i] = true, got.Bytes
		return nil, nil
	})
	for i, f := range files {
		if done[i] {
			m.done[f.Name] = true
			m.moved.Files++
		}
		if copied[i] {
			m.moved.Copied++
			m.moved.Bytes += bytes[i]
		}
	}
	return len(files), err
}

// same reports whether the target has a file with the bytes of the source. If not, it is removed.
func (m *move) same(ctx context.Context, f feedmill.KeptFile) (Part, bool, error) {
	if f.SHA256 == "" {
		got, err := sumFile(ctx, m.from, f.Name)
		if err != nil {
			if problem(err) != "" {
				return got, false, m.to.Delete(ctx, f.Name)
			}
			return got, false, err
		}
		f.SHA256, f.Bytes = got.SHA256, got.Bytes
	}
	return has(ctx, m.to, f.Name, f)
}

// verify reads a copy back.
func (m *move) verify(ctx context.Context, name string, want Part) error {
	got, err := sumFile(ctx, m.to, name)
	if err != nil {
		return fmt.Errorf("verify the copy of %s: %w", name, err)
	}
	if got.Bytes != want.Bytes || got.SHA256 != want.SHA256 {
		return fmt.Errorf("the target returns other bytes for %s than were written; nothing was switched. Check the target", name)
	}
	return nil
}

// movedFile is a file to move. A file that a version has must exist.
type movedFile struct {
	feedmill.KeptFile
	required bool
}

// missing lists the files that are not known to be at the target, in the order of their names.
func (m *move) missing(ctx context.Context) ([]movedFile, error) {
	left := make(map[string]movedFile)
	const step = 1000
	for after := ""; ; {
		names, err := m.StoredObjects(ctx, after, step)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if after = name; !m.done[name] {
				left[name] = movedFile{KeptFile: feedmill.KeptFile{Name: name, Bytes: -1}}
			}
		}
		if len(names) < step {
			break
		}
	}
	// After those with a row, so that a file that gets a record meanwhile is found.
	kept, err := m.AllKeptFiles(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range kept {
		if !m.done[f.Name] {
			left[f.Name] = movedFile{f, true}
		}
	}
	return slices.SortedFunc(maps.Values(left), func(a, b movedFile) int { return strings.Compare(a.Name, b.Name) }), nil
}
