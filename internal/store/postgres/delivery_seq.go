package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/store/record"
)

// Deliveries are numbered in blocks: one number of the database's sequence is
// worth blockSize of them, so that a transaction asks once and knows the numbers
// of its deliveries before they are written.
const (
	blockBits = 20
	blockSize = 1 << blockBits
)

// sequence are the blocks that a transaction has taken.
type sequence []int64

const nextBlocks = `SELECT nextval('delivery_seq') FROM generate_series(1, $1::integer)`

// reserve queues what takes n more blocks.
func (s *sequence) reserve(b *pgx.Batch, n int) {
	each(b.Queue(nextBlocks, n), func(row record.Row) error {
		var block int64
		if err := row.Scan(&block); err != nil {
			return err
		}
		*s = append(*s, block<<blockBits)
		return nil
	})
}

// seq is that of the i-th delivery of the transaction.
func (s sequence) seq(i int) int64 { return s[i>>blockBits] + int64(i&(blockSize-1)) }

// blocksFor is how many blocks n deliveries need.
func blocksFor(n int) int { return (n + blockSize - 1) >> blockBits }

// numbers takes blocks for n deliveries.
func (t tx) numbers(ctx context.Context, n int) (s sequence, err error) {
	err = t.send(ctx, func(b *pgx.Batch) error { s.reserve(b, blocksFor(n)); return nil })
	return s, err
}
