package deliver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// delivery is the n-th delivery of a subscription, each of an event of its own.
func delivery(n int) feedmill.DueDelivery {
	return feedmill.DueDelivery{
		Delivery: feedmill.Delivery{
			ID: deliveryID(n), Event: feedmill.ID(fmt.Sprintf("evt_%04d", n)), Seq: int64(n),
			State: feedmill.DeliveryPending, Attempts: 1, MaxAttempts: 10, Type: "metric.created",
		},
		Payload: []byte("{}"),
	}
}

func deliveryID(n int) feedmill.ID { return feedmill.ID(fmt.Sprintf("dlv_%04d", n)) }

// deliveries are those in [from, to).
func deliveries(from, to int) (all []feedmill.DueDelivery) {
	for n := from; n < to; n++ {
		all = append(all, delivery(n))
	}
	return all
}

func testBacklog(maxQueued, maxLane int) *backlog {
	b := newBacklog(new(newMemory(maxQueued, maxLane)))
	return &b
}

func (b *backlog) offerAll(due []feedmill.DueDelivery) {
	for _, d := range due {
		b.offer(d, true)
	}
}

// queuedIDs are the numbers of the deliveries in the queue.
func (b *backlog) numbers() (queue []int) {
	for _, q := range b.queue {
		var n int
		fmt.Sscanf(string(q.id), "dlv_%d", &n)
		queue = append(queue, n)
	}
	return queue
}

func TestOffersAreQueuedInOrder(t *testing.T) {
	b := testBacklog(100, 100)
	b.offerAll(deliveries(1, 4))
	if !slices.Equal(b.numbers(), []int{1, 2, 3}) || b.rest != allKnown || b.readFrom != deliveryID(3) {
		t.Fatalf("queued are %v, the rest is %d from %q", b.numbers(), b.rest, b.readFrom)
	}
	q := b.pop()
	if q.id != deliveryID(1) || q.seq != 1 || q.attempts != 1 || q.maxAttempts != 10 || q.event.kind != "metric.created" || string(q.event.payload) != "{}" {
		t.Errorf("the first is %+v of %+v", q, q.event)
	}
	if !b.has(q.id) || !slices.Equal(b.numbers(), []int{2, 3}) || b.memory.queued != 2 {
		t.Errorf("what is under way is known %v, queued are %v", b.has(q.id), b.numbers())
	}
	if b.forget(q.id); b.has(q.id) || len(b.settled) != 0 {
		t.Error("what is settled is known, or noted although nothing is read")
	}
}

// What cannot be queued is left to the store, and so is all behind it.
func TestOffersThatAreLeftToTheStore(t *testing.T) {
	b := testBacklog(100, 100)
	b.offerAll(deliveries(5, 7))
	b.offer(delivery(3), false) // it comes late, and must not be queued
	b.offer(delivery(9), true)
	if !slices.Equal(b.numbers(), []int{5, 6}) || b.rest != unread || b.readFrom != deliveryID(3) {
		t.Errorf("queued are %v, the rest is %d from %q", b.numbers(), b.rest, b.readFrom)
	}
}

// What the store was read beyond may have been read, sent and settled.
func TestOffersThatWereOvertaken(t *testing.T) {
	b := testBacklog(100, 100)
	q := b.beginQuery("sub", time.Now())
	b.endQuery(q, deliveries(1, 9), false)
	b.offer(delivery(7), true)
	b.offer(delivery(3), true)
	b.offer(delivery(5), true)
	if b.overtaken != deliveryID(3) || b.rest != unread || len(b.queue) != 8 {
		t.Fatalf("overtaken is %q, the rest is %d, %d are queued", b.overtaken, b.rest, len(b.queue))
	}
	sent := b.pop()
	b.forget(sent.id)
	if b.offer(delivery(8), true); b.overtaken != deliveryID(3) || len(b.queue) != 7 {
		t.Errorf("the last that was read is queued again: %v", b.numbers())
	}
	b.offer(delivery(9), true) // what waits in the store goes first
	if len(b.queue) != 7 || b.readFrom != deliveryID(8) {
		t.Errorf("%d are queued, to be read on from %q", len(b.queue), b.readFrom)
	}
	q = b.beginQuery("sub", time.Now())
	b.endQuery(q, deliveries(8, 10), false)
	if b.readFrom != deliveryID(3) || b.rest != unread || b.overtaken != "" || len(b.queue) != 8 {
		t.Errorf("after the end it is read from %q, rest %d, %d are queued", b.readFrom, b.rest, len(b.queue))
	}
}

func TestDroppedQueueIsReadAgain(t *testing.T) {
	b := testBacklog(100, 100)
	b.offerAll(deliveries(1, 5))
	under := b.pop()
	b.overtaken = deliveryID(2)
	b.dropQueue()
	if len(b.queue) != 0 || len(b.known) != 1 || !b.has(under.id) || b.rest != unread || b.readFrom != "" || b.overtaken != "" {
		t.Errorf("%+v is left", b)
	}
	b = testBacklog(100, 100)
	b.offerAll(deliveries(1, 5))
	if b.abandon(); b.rest != allKnown || b.readFrom != "" || len(b.queue) != 0 || len(b.known) != 0 {
		t.Errorf("%+v is left of what another sends", b)
	}
}

func TestWhatThePollFinds(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name          string
		known         int
		rest          rest
		checked       time.Duration // ago
		retry         time.Duration // ago; negative is to come, zero none
		want          rest
		fromBeginning bool
	}{
		{"nothing in hand", 0, allKnown, 0, 0, unread, true},
		{"in hand", 1, allKnown, 0, 0, unsure, false},
		{"in hand, almost long ago", 1, allKnown, 5*time.Second - 1, 0, unsure, false},
		{"in hand, long ago", 1, allKnown, 5 * time.Second, 0, unread, true},
		{"in hand, to be read on", 1, unread, 0, 0, unread, false},
		{"in hand, with a retry to come", 1, allKnown, 0, -1, unsure, false},
		{"in hand, with a retry due", 1, allKnown, 0, 1, unread, true},
	} {
		b := testBacklog(100, 100)
		b.offerAll(deliveries(1, 1+c.known))
		b.rest, b.checkedAt, b.readFrom, b.overtaken = c.rest, now.Add(-c.checked), deliveryID(1), deliveryID(1)
		if c.retry != 0 {
			b.retries = dueTimes{{at: now.Add(-c.retry)}}
		}
		if got := b.found(now, asked, now); got != c.fromBeginning || b.rest != c.want || (b.readFrom == "" && b.overtaken == "") != c.fromBeginning {
			t.Errorf("%s: it is to be read: %v, the rest is %d from %q", c.name, got, b.rest, b.readFrom)
		}
	}
}

// The poll that looks in any case finds what is in hand, or was until just now. It
// is not read for that, but now and then.
func TestWhatEveryPollFinds(t *testing.T) {
	began := time.Now()
	for _, c := range []struct {
		name    string
		known   int
		settled time.Duration // before the poll began
		checked time.Duration
		want    rest
	}{
		{"nothing in hand", 0, 1, 0, unread},
		{"in hand", 1, 1, 0, allKnown},
		{"in hand, long ago", 1, 1, 5 * time.Second, unread},
		{"many in hand, long ago", 9, 1, 15*time.Second - 1, allKnown},
		{"many in hand, longer ago", 9, 1, 15 * time.Second, unread},
		{"settled meanwhile", 0, 0, 0, allKnown},
		{"settled meanwhile, long ago", 0, 0, 5 * time.Second, unread},
	} {
		b := testBacklog(100, 100)
		b.offerAll(deliveries(1, 1+c.known))
		b.checkedAt, b.settledAt = began.Add(-c.checked), began.Add(-c.settled)
		if got := b.found(began, seen, began); got != (c.want == unread) || b.rest != c.want {
			t.Errorf("%s: it is to be read: %v, the rest is %d", c.name, got, b.rest)
		}
	}
}

func TestWhatIsUnsureIsReadWhenNothingIsInHand(t *testing.T) {
	b := testBacklog(100, 100)
	b.offerAll(deliveries(1, 2))
	b.checkedAt = time.Now()
	b.found(time.Now(), asked, time.Now())
	q := b.pop()
	if b.hasWork() || b.rest != unsure {
		t.Errorf("it has work while one is under way; the rest is %d", b.rest)
	}
	b.forget(q.id)
	if !b.hasWork() || b.rest != unread || b.readFrom != "" {
		t.Errorf("nothing is read once that is settled: %d from %q", b.rest, b.readFrom)
	}
	if b.reading = true; b.hasWork() {
		t.Error("it has work while it is read")
	}
}
