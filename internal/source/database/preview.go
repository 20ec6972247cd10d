package database

import (
	"context"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

const (
	// previewTime is how long the query of a preview may take, and previewBytes how
	// many bytes its rows may have.
	previewTime  = 30 * time.Second
	previewBytes = 16 << 20
)

// limitPreview runs the query of a preview within its limits.
func limitPreview(ctx context.Context, longest time.Duration, sink feedmill.FetchSink, do func(context.Context, feedmill.FetchSink) error) error {
	slow := Fail(ProblemTimeout, "The preview took longer than "+feedmill.FormatDuration(longest)+", the limit for previews. Filter by an indexed field, or create the feed: a refresh is limited by statementTimeout instead.", nil)
	// What the sink has begun goes on after the query, so only the time ends the context.
	inTime, cancel := context.WithCancelCause(ctx)
	defer time.AfterFunc(longest, func() { cancel(slow) }).Stop()
	err := do(inTime, &sizedSink{FetchSink: sink})
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		return slow
	}
	return err
}

// sizedSink refuses rows once they are larger than a preview may be.
type sizedSink struct {
	feedmill.FetchSink
	bytes int
}

// Rows takes rows.
func (s *sizedSink) Rows(ctx context.Context, run []columnar.Vector) error {
	for i := range run {
		v := &run[i]
		s.bytes += vectorBytes(v)
	}
	if s.bytes > previewBytes {
		return Fail(ProblemTooLarge, fmt.Sprintf("The rows of the preview are larger than %d MiB, the limit for previews. Select fewer fields, or lower limit.", previewBytes>>20), nil)
	}
	return s.FetchSink.Rows(ctx, run)
}
