package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/model"
)

// incoming is data on its way to a file, which can be read as it comes.
type incoming struct {
	*blob.Draft

	mu    sync.Mutex
	moved sync.Cond
	over  bool
	fault error // why the rest does not come

	looking sync.WaitGroup
	early   *looked // what was found meanwhile, once nobody is looking
}

// receive writes data as it comes to a file of that name, which is not kept
// before the caller says so. Where there is a place for it, it is looked at
// meanwhile. If receive fails, nothing is left.
func (f *Feeds) receive(ctx context.Context, name string, u feedmill.Upload) (*incoming, error) {
	draft, err := f.blobs.Begin(name)
	if err != nil {
		return nil, fmt.Errorf("receive data: %w", err)
	}
	a := &incoming{Draft: draft}
	a.moved.L = &a.mu
	select {
	case f.early <- struct{}{}:
		a.looking.Go(func() {
			defer func() { <-f.early }()
			a.early = f.lookEarly(ctx, a, u)
		})
	default:
	}
	if err = a.fill(u.Body); err == nil {
		err = context.Cause(ctx)
	}
	a.end(err)
	if err != nil {
		a.Close()
		return nil, fmt.Errorf("receive data: %w", err)
	}
	return a, nil
}

// Close ends the reading. Where the data was not kept, nothing is left of it.
func (a *incoming) Close() {
	a.looking.Wait()
	if a.early != nil {
		_ = a.early.Close() // what is lost with it is lost
	}
	a.Draft.Close()
}

// Data is received in parts of so many bytes, of which so many are on their way
// from the body to the file.
const (
	partBytes = 256 << 10
	maxParts  = 4
)

// fill copies all of the body, reading and writing at the same time.
func (a *incoming) fill(body io.Reader) error {
	// Neither channel is ever full, because there are only so many parts.
	read, free := make(chan []byte, maxParts), make(chan []byte, maxParts)
	for range maxParts {
		free <- nil
	}
	var writing sync.WaitGroup
	var fault error
	writing.Go(func() {
		defer close(free)
		for part := range read {
			if _, fault = a.Write(part); fault != nil {
				return
			}
			a.signal()
			free <- part
		}
	})
	err := readParts(body, read, free)
	close(read)
	writing.Wait()
	return errors.Join(fault, err)
}

// readParts reads a body to its end, into parts that are free. It ends early
// where no more part becomes free.
func readParts(body io.Reader, read chan<- []byte, free <-chan []byte) (err error) {
	for part := range free {
		if part == nil {
			part = make([]byte, partBytes)
		}
		part = part[:partBytes]
		n := 0
		for n < len(part) && err == nil {
			var more int
			more, err = body.Read(part[n:])
			n += more
		}
		read <- part[:n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// signal wakes those that wait for more.
func (a *incoming) signal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moved.Broadcast()
}

// end says that no more comes, and why if that is not all.
func (a *incoming) end(fault error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over, a.fault = true, fault
	a.moved.Broadcast()
}

// Await waits until so many bytes are there, or all of them.
func (a *incoming) Await(size int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.Size() < size && !a.over {
		a.moved.Wait()
	}
	return a.fault
}

// looked is a table whose records were all looked at.
type looked struct {
	table
	schema   *model.Schema
	warnings []feedmill.Warning
}

// look looks at all records of data that was received, unless that was done
// while it arrived.
func (f *Feeds) look(ctx context.Context, data *incoming, u feedmill.Upload) (*looked, error) {
	data.looking.Wait()
	if found := data.early; found != nil {
		data.early = nil
		return found, nil
	}
	opened, err := openTable(ctx, data, u, f.temp)
	if err != nil {
		return nil, err
	}
	return opened.look(ctx, u)
}

// look looks at all records of a table, which is closed if it fails.
func (t table) look(ctx context.Context, u feedmill.Upload) (*looked, error) {
	schema, warnings, err := model.Infer(ctx, t, model.Options{Text: u.Text})
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return &looked{table: t, schema: schema, warnings: warnings}, nil
}

// lookEarly looks at data while it arrives. It answers nil where that cannot be
// done; whatever is wrong with the data shows when it is there in full.
func (f *Feeds) lookEarly(ctx context.Context, a *incoming, u feedmill.Upload) *looked {
	// A table that is small is looked at in no time.
	if a.Await(earlyBytes) != nil || a.Size() < earlyBytes {
		return nil
	}
	opened, err := openArriving(ctx, a, u, f.temp)
	if err != nil {
		return nil
	}
	found, err := opened.look(ctx, u)
	if err != nil {
		return nil
	}
	return found
}

// earlyBytes is how much data there is at least for it to be looked at early.
const earlyBytes = 4 << 20
