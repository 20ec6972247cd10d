package typed

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// runRows is how many rows a run has at most.
const runRows = 16_384

// How many bytes of text a run can have, and all runs together besides textOfByte for each byte of the
// data: a word of a dictionary, or a list that others share, can stand in every row. Tests make them less.
var (
	runText   = input.MaxRecordBytes
	leastText = int64(256 << 20)
)

const textOfByte = 256

// errLongRun is that rows have more text than a run can have.
var errLongRun = errors.New("the rows are too long for one run")

// runMaker makes runs of batches.
type runMaker struct {
	*Table
	// at is where the next run begins in its batch, rows how many it has, and text how many bytes
	// of text there were.
	at, rows, text int64
}

// next makes a run of the next rows of a batch.
func (m *runMaker) next(ctx context.Context, batch arrow.RecordBatch) ([]columnar.Vector, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		to := min(m.at+m.rows, batch.NumRows())
		run, text, err := m.newRun(batch, m.at, to)
		if errors.Is(err, errLongRun) {
			if to-m.at == 1 {
				return nil, input.Refuse("too-long", "a row has more than %d bytes, the maximum", runText)
			}
			m.rows = (to - m.at) / 2
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.text += int64(text); m.text > leastText+textOfByte*m.size {
			return nil, input.Refuse("too-long", "the values have more than %d bytes as text, the maximum for data of %d bytes; the same values are repeated in too many rows", m.text, m.size)
		}
		if text < runText/4 {
			m.rows = min(2*m.rows, runRows)
		}
		m.at = to
		return run, nil
	}
}

// newRun makes vectors of the rows [from, to) of a batch, and says how many bytes of text they have.
func (m *runMaker) newRun(batch arrow.RecordBatch, from, to int64) (run []columnar.Vector, text int, err error) {
	rows := batch.NewSlice(from, to)
	defer rows.Release()
	run = make([]columnar.Vector, len(m.columns))
	for i, c := range m.columns {
		c.room = runText - text
		if err := c.vector(&run[i], rows.Column(i)); err != nil {
			for _, c := range m.columns[:i+1] {
				c.counted = c.before
			}
			return nil, 0, err
		}
		text += len(run[i].Bytes)
	}
	return run, text, nil
}
