package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// OpenArriving is [Open] for data that is still arriving: its first reading takes
// in what is there. It is for the usual: UTF-8
// without a mark, in a dialect that the first bytes tell. For all else it or the
// first reading fails with [input.ErrArriving], or in another way if there is a fault; the
// data is then to be opened again, once it is there in full.
//
// A table that is read to its end is the same as one that is opened then.
func OpenArriving(src input.Arriving, options Options) (*Table, error) {
	limits := options.limitsOrUsual()
	size, err := input.AwaitSize(src, limits.head+1)
	if err != nil {
		return nil, err
	}
	if size <= limits.head {
		return nil, input.ErrArriving
	}
	head := make([]byte, limits.head)
	if err := input.ReadFull(src, head, 0); err != nil {
		return nil, fmt.Errorf("read the head of the table: %w", err)
	}
	start := head[:min(limits.head, input.HeadBytes)]
	if encoding, mark := input.EncodingOf(start); encoding != input.UTF8 || mark > 0 || input.BinaryFormat(start) != "" {
		return nil, input.ErrArriving
	}
	if options.Encoding != "" {
		return nil, input.ErrArriving
	}
	if wrapsLines(head, false, options) || findPrinted(head, options) != nil {
		return nil, input.ErrArriving
	}
	if firstTable(head, options) > 0 {
		return nil, input.ErrArriving
	}
	found := findDialect(head, false, options)
	if found.tooMany || found.width <= 1 || !found.Dialect.fast() {
		return nil, input.ErrArriving
	}
	place, first, err := found.find(options.Header, options.Rules)
	if err != nil || first == len(found.records) {
		return nil, input.ErrArriving
	}
	text := &input.Text{Source: src, Encoding: input.UTF8, Survey: input.NewSurvey(limits.chunk)}
	c := &Table{Dialect: found.Dialect, text: text, end: math.MaxInt64, limits: limits, options: &options, arriving: src}
	return c, c.nameColumns(found, &place, first)
}

// arrivals are the chunks of a text that is arriving, as far as they were
// surveyed, which is done in order.
type arrivals struct {
	mu       sync.Mutex
	surveyed sync.Cond // something below has changed
	// outside says for each chunk, and for that behind the last one, whether
	// it begins outside of quotes.
	outside []bool
	early   int  // how many chunks can be read before all is there
	over    bool // no more of them can
}

// behind is how many bytes must stand behind a chunk for it to be read before
// all is there: it is certain then that the table does not end before them.
func (l *limits) behind() int64 { return 4 * l.tail }

// readArriving is the first reading of data that is arriving.
func (c *Table) readArriving(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	r := c.newFirstReading()
	r.arrivals = &arrivals{}
	r.arrivals.surveyed.L = &r.arrivals.mu
	group, early := errgroup.WithContext(ctx)
	group.Go(func() error { return r.surveyArriving(early) })
	group.Go(func() error {
		return input.Together(early, workers, func(ctx context.Context) error { return r.scan(ctx, fn) })
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if err := c.settle(r); err != nil {
		return err
	}
	r.outside, r.arrivals, r.claim = r.arrivals.outside, nil, r.next
	return c.readOn(ctx, r, workers, fn)
}

// settle finds where the table ends, once all is there, and fails where it is
// not what the early chunks were taken for.
func (c *Table) settle(r *firstReading) error {
	s, dialect := c.text.Survey, c.Dialect
	if s.Invalid >= 0 || s.NUL >= 0 {
		return input.ErrArriving
	}
	c.end = c.text.Size()
	if err := c.trimEnd(); err != nil {
		return err
	}
	if err := c.findEscape(); err != nil {
		return err
	}
	if c.options.Extent.Table > 0 && !c.exported {
		if second, _, _, err := c.secondTable(c.begin, c.names); err != nil || second >= 0 {
			return errors.Join(input.ErrArriving, err)
		}
	}
	if err := c.trimFooter(); err != nil {
		return err
	}
	taken := max(int64(r.next)*r.chunk, r.from)
	if n := len(c.blocks); n > 0 {
		taken = max(taken, c.blocks[n-1].end)
	}
	if c.end <= max(taken, c.limits.head) || c.Dialect != dialect {
		return input.ErrArriving
	}
	return nil
}

// surveyArriving surveys all chunks, as they come.
func (r *firstReading) surveyArriving(ctx context.Context) error {
	defer r.arrivals.end()
	c, s := r.table, r.table.text.Survey
	behind := c.limits.behind()
	buffer := make([]byte, input.LookBehind+r.chunk)
	outside := true
	for base := int64(0); ; base += r.chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := base + r.chunk
		size, err := input.AwaitSize(c.arriving, next+behind)
		if err != nil {
			return err
		}
		if base >= size {
			return nil
		}
		from := max(base-input.LookBehind, 0)
		data := buffer[:min(next, size)-from]
		if err := input.ReadFull(c.arriving, data, from); err != nil {
			return fmt.Errorf("survey the text: %w", err)
		}
		k := len(s.Quotes)
		s.Add(base, data[:base-from], data[base-from:], next >= size)
		quotes := int(s.Quotes[k])
		if base == 0 {
			r.arrivals.add(true)
			quotes -= bytes.Count(data[:c.begin], []byte{'"'})
		}
		outside = outside == (quotes%2 == 0) || c.Dialect.Quote == 0
		r.arrivals.add(outside)
		if next+behind <= size {
			r.arrivals.release(k + 1)
		}
	}
}

// add says how the next chunk begins.
func (a *arrivals) add(outside bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outside = append(a.outside, outside)
}

// release lets so many chunks be read.
func (a *arrivals) release(chunks int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.early = chunks
	a.surveyed.Broadcast()
}

// end says that no more chunk is to be read early.
func (a *arrivals) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.surveyed.Broadcast()
}

// wait waits until chunk k can be read before all is there. It reports false
// where the chunk is one of the last.
func (a *arrivals) wait(k int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.early <= k && !a.over {
		a.surveyed.Wait()
	}
	return a.early > k
}

// inside reports whether a chunk that was surveyed begins inside quotes.
func (a *arrivals) inside(k int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.outside[k]
}
