package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
	"github.com/feedmill/feedmill/internal/share"
)

// incoming is data on its way to a file, which can be read as it comes.
type incoming struct {
	Draft
	body    *roomyBody
	reading feedmill.Reading

	mu    sync.Mutex
	moved sync.Cond
	over  bool
	fault error // why the rest does not come

	inferring sync.WaitGroup
	early     *inferred // what was found while it arrived, once inferring is done
}

// receive writes data as it comes to a file of that name, which is not kept
// before the caller says so; stored says that it will. Where there is a place for it, its types are inferred
// meanwhile. If receive fails, nothing is left.
func (m *Mill) receive(ctx context.Context, name string, u feedmill.Upload, stored bool) (*incoming, error) {
	body, err := m.roomFor(ctx, u.Body, stored)
	if err != nil {
		return nil, err
	}
	draft, err := m.Blobs.Begin(name)
	if err != nil {
		return nil, fmt.Errorf("receive data: %w", err)
	}
	a := &incoming{Draft: draft, body: body, reading: u.Reading}
	a.moved.L = &a.mu
	if giveBack, ok := m.early.Try(ctx); ok {
		a.inferring.Go(func() {
			defer giveBack()
			a.early = m.inferEarly(ctx, a)
		})
	}
	if err = a.fill(ctx, body); err == nil {
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
	a.inferring.Wait()
	if a.early != nil {
		_ = a.early.Close() // what is lost with it is lost
	}
	a.Draft.Close()
	a.body.end()
}

// Data is received in parts of so many bytes, of which so many are on their way
// from the body to the file.
const (
	partBytes = 256 << 10
	maxParts  = 4
)

// fill copies all of the body, reading and writing at the same time.
func (a *incoming) fill(ctx context.Context, body io.Reader) error {
	// Neither channel is ever full, because there are only so many parts.
	read, free := make(chan []byte, maxParts), make(chan []byte, maxParts)
	for range maxParts {
		free <- nil
	}
	var writing sync.WaitGroup
	var fault error
	writing.Go(func() {
		defer close(free)
		// What is unpacked comes faster than from a client, and then writing it is long work.
		var long share.Long
		for part := range read {
			if len(part) == partBytes {
				share.Present(ctx)
				long.Step()
			}
			_, fault = a.Write(part)
			if long.End(); fault != nil {
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

// inferred is a table whose types are known.
type inferred struct {
	decode.Table
	schema   *model.Schema
	warnings []feedmill.Warning
}

// infer finds the types of data that was received, unless that was done while it
// arrived.
func (m *Mill) infer(ctx context.Context, a *incoming) (*inferred, error) {
	a.inferring.Wait()
	if found := a.early; found != nil {
		a.early = nil
		return found, nil
	}
	table, err := m.open(ctx, a, a.reading)
	if err != nil {
		return nil, err
	}
	return inferTable(ctx, table, a.reading)
}

// inferTable finds the types of a table, which is closed if it fails.
func inferTable(ctx context.Context, table decode.Table, r feedmill.Reading) (*inferred, error) {
	options, err := modelOptions(r)
	if err != nil {
		return nil, errors.Join(err, table.Close())
	}
	schema, warnings, err := model.Infer(ctx, table, options)
	if err != nil {
		return nil, errors.Join(err, table.Close())
	}
	return &inferred{Table: table, schema: schema, warnings: warnings}, nil
}

// readAs has the data read in another way than it was received with. What was
// inferred before is of no use then.
func (a *incoming) readAs(r feedmill.Reading) {
	a.inferring.Wait()
	if a.early != nil && !reflect.DeepEqual(a.reading, r) {
		_ = a.early.Close() // nothing was written
		a.early = nil
	}
	a.reading = r
}

// earlyBytes is how much data there is at least for its types to be inferred
// while it arrives: of less they are inferred in no time.
const earlyBytes = 4 << 20

// inferEarly finds the types of data while it arrives. It returns nil where that
// cannot be done; whatever is wrong with the data shows when it is there in full.
func (m *Mill) inferEarly(ctx context.Context, a *incoming) *inferred {
	if a.Await(earlyBytes) != nil || a.Size() < earlyBytes {
		return nil
	}
	// It may take as long as the client wants, so large rows are left for later.
	ctx, end := share.WithLarge(ctx, nil)
	defer end()
	table, err := m.openArriving(ctx, a, a.reading)
	if err != nil {
		return nil
	}
	found, err := inferTable(ctx, table, a.reading)
	if err != nil {
		return nil
	}
	return found
}
