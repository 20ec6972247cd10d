package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// DeliveryCounts are the counts of attempts by subscription and time.
type DeliveryCounts interface {
	// WriteDeliveryCounts writes counts, in place of what their writers wrote of the
	// same before, and DeliveryCounts are those of a subscription from the stretch
	// of time on that a time is in.
	WriteDeliveryCounts(context.Context, []feedmill.DeliveryCount) error
	DeliveryCounts(ctx context.Context, subscription feedmill.ID, since time.Time) ([]feedmill.DeliveryCount, error)
	// SumDeliveryCounts are those of subscriptions since a time without Times: for each
	// one of all before fresh, which has no writer, and those from then on.
	SumDeliveryCounts(ctx context.Context, subscriptions []feedmill.ID, since, fresh time.Time) ([]feedmill.DeliveryCount, error)
	ForgetDeliveryCounts(ctx context.Context, before time.Time, limit int) (int64, error)
}

var deliveryCountCases = []testCase{
	{name: "written again by their writers, read from a time on, and forgotten", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		sub, other := feedmill.NewID(feedmill.PrefixSubscription), feedmill.NewID(feedmill.PrefixSubscription)
		from := now().Truncate(feedmill.CountStep)
		count := func(sub feedmill.ID, from time.Time, writer string, delivered int64) feedmill.DeliveryCount {
			return feedmill.DeliveryCount{
				Subscription: sub, From: from, Writer: writer, Delivered: delivered, First: 1, Failed: 2, Exhausted: 3, Times: feedmill.AnswerTimes{0, 4, 1},
			}
		}
		must(t, s.WriteDeliveryCounts(ctx, []feedmill.DeliveryCount{
			count(sub, from, "a", 1), count(sub, from, "b", 10), count(other, from, "a", 100), count(sub, from.Add(-feedmill.CountStep), "a", 1000),
		}))
		must(t, s.WriteDeliveryCounts(ctx, []feedmill.DeliveryCount{count(sub, from, "a", 2)}))
		got, err := s.DeliveryCounts(ctx, sub, from.Add(time.Minute))
		must(t, err)
		if diff := gocmp.Diff([]feedmill.DeliveryCount{count(sub, from, "a", 2), count(sub, from, "b", 10)}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		sums, err := s.SumDeliveryCounts(ctx, []feedmill.ID{other, sub, feedmill.NewID(feedmill.PrefixSubscription)}, from.Add(-feedmill.CountStep), from)
		must(t, err)
		slices.SortFunc(sums, func(a, b feedmill.DeliveryCount) int { return cmp.Compare(a.Delivered, b.Delivered) })
		summed := func(c feedmill.DeliveryCount) feedmill.DeliveryCount {
			c.First, c.Failed, c.Times = 0, 0, nil
			return c
		}
		want := []feedmill.DeliveryCount{
			summed(count(sub, from, "a", 2)), summed(count(sub, from, "b", 10)), summed(count(other, from, "a", 100)),
			summed(count(sub, from.Add(-feedmill.CountStep), "", 1000)),
		}
		if diff := gocmp.Diff(want, sums); diff != "" {
			t.Errorf("sums (-want +got):\n%s", diff)
		}
		sums, err = s.SumDeliveryCounts(ctx, []feedmill.ID{sub}, from.Add(-feedmill.CountStep), from.Add(feedmill.CountStep))
		must(t, err)
		if len(sums) != 1 || sums[0].Delivered != 1012 || sums[0].Exhausted != 9 {
			t.Errorf("in all %+v", sums)
		}
		n, err := s.ForgetDeliveryCounts(ctx, from, 10)
		must(t, err)
		got, err = s.DeliveryCounts(ctx, sub, from.Add(-time.Hour))
		must(t, err)
		if n != 1 || len(got) != 2 {
			t.Errorf("forgot %d, %d are left", n, len(got))
		}
	}},
}
