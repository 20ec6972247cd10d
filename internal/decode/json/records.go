package json

import (
	"bytes"
	"context"
	"errors"

	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// Records gives the text of every record of a page to fn, in their order: for
// whoever makes other records of them. Nothing has looked at it closely, so it can
// have faults; fn must not keep it. With lines set the page is NDJSON. A page without
// any data has no records.
func (p *Pages) Records(ctx context.Context, data input.Source, lines bool, fn func(record []byte) error) error {
	j, err := p.open(ctx, data, lines, 0, 0)
	if errors.Is(err, input.ErrNoData) {
		return nil
	}
	if err != nil {
		return err
	}
	blocks, err := j.newBlocks(ctx)
	if err != nil {
		return j.refusal(err)
	}
	r := j.newReader(ctx, nil)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := blocks.claim(&r.block)
		if err == nil && more {
			err = blocks.load(&r.block)
		}
		if err != nil || !more {
			return j.refusal(err)
		}
		r.beginBlock()
		if err := r.texts(fn); err != nil {
			return j.refusal(err)
		}
	}
}

// texts gives the records of the block to fn.
func (r *recordReader) texts(fn func(record []byte) error) error {
	r.use(&r.block)
	b := &r.block
	switch {
	case b.records != nil:
	case r.table.path == nil:
		for line := range bytes.Lines(r.data[:r.size]) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if err := fn(line); err != nil {
				return err
			}
		}
		return nil
	case !r.selectLines():
		return r.reason()
	default:
		b = &r.selected
		r.use(b)
	}
	for _, at := range b.records {
		if r.table.filter != nil {
			accepted, ok := r.accepts(at)
			if !ok {
				return r.reason()
			}
			if !accepted {
				continue
			}
		}
		if err := fn(r.data[at.start:at.end]); err != nil {
			return err
		}
	}
	return nil
}

// reason is why the block could not be read.
func (r *recordReader) reason() error {
	if r.failure != nil {
		return r.failure
	}
	return r.fault
}

// KeyedPath is the path of the object in a page whose members are records: the
// largest object of objects, where the page has no list, and else the page itself.
func KeyedPath(ctx context.Context, data input.Source) (string, error) {
	j := &Table{source: source{blockBytes: usualBlockBytes, readBytes: usualReadBytes, limits: &usual}, spool: input.NewSpool("")}
	defer func() { _ = j.Close() }() // nothing of it is needed
	if err := j.read(ctx, data); err != nil {
		return "", j.refusal(err)
	}
	place, err := locateRecords(ctx, j.source, wanted{})
	if err != nil {
		return "", j.refusal(err)
	}
	if place.shape != shapeKeyed {
		return "$", nil
	}
	return jsonpath.Text(place.steps[:len(place.steps)-1]), nil
}
