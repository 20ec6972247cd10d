package storetest

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

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
