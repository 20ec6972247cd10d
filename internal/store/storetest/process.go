package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Processes are the reports of the processes that share a store.
type Processes interface {
	// ReportProcess writes what a process says of itself, and a point of what it did,
	// Processes and ProcessPoints are what all of them said since a time, and
	// ForgetProcess removes what one that ends has said.
	ReportProcess(ctx context.Context, report feedmill.ProcessReport, point *feedmill.ProcessReport) error
	ForgetProcess(ctx context.Context, process string) error
	Processes(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)
	ProcessPoints(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)
}

var processCases = []testCase{
	{name: "processes say how they do, and what is old goes", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		at := now()
		report := func(process string, at time.Time, text string) feedmill.ProcessReport {
			return feedmill.ProcessReport{Process: process, At: at, Text: []byte(text)}
		}
		old := report("a", at.Add(-25*time.Hour), "past")
		must(t, s.ReportProcess(ctx, old, &old))
		first, second := report("a", at, "1"), report("b", at.Add(time.Second), "2")
		must(t, s.ReportProcess(ctx, first, &first))
		must(t, s.ReportProcess(ctx, second, &second))
		again := report("b", at.Add(2*time.Second), "3")
		must(t, s.ReportProcess(ctx, again, nil))
		found, err := s.Processes(ctx, at)
		must(t, err)
		equal(t, "processes", []feedmill.ProcessReport{first, again}, found)
		points, err := s.ProcessPoints(ctx, at.Add(-48*time.Hour))
		must(t, err)
		equal(t, "points", []feedmill.ProcessReport{first, second}, points)
		must(t, s.ForgetProcess(ctx, "a"))
		found, err = s.Processes(ctx, at)
		must(t, err)
		equal(t, "those that are left", []feedmill.ProcessReport{again}, found)
	}},
}
