package deliver

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestQueries(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name     string
		backlog  *backlog
		known    int
		itemSize int
		readFrom feedmill.ID
		heads    bool
		limit    int
		bytes    int
		expected int
		from     feedmill.ID
		queue    int // what stays of it
	}{
		{name: "nothing seen yet", backlog: testBacklog(1000, 1000), limit: 256, bytes: readBytes, expected: 256},
		{name: "small ones", backlog: testBacklog(1000, 1000), itemSize: 1000, limit: 500, bytes: readBytes, expected: 500},
		{name: "large ones", backlog: testBacklog(1000, 1000), itemSize: 1 << 20, limit: 4, bytes: readBytes, expected: 4},
		{name: "between", backlog: testBacklog(1000, 1000), itemSize: 40_000, limit: 104, bytes: readBytes, expected: 104},
		{name: "just room for all", backlog: testBacklog(500, 1000), limit: 256, bytes: readBytes, expected: 256},
		{name: "no room for all", backlog: testBacklog(499, 1000), limit: 32, bytes: 32 * firstItemSize, expected: 32},
		{name: "room for a few", backlog: testBacklog(5, 1000), limit: 5, bytes: 32 * firstItemSize, expected: 5},
		{name: "no room", backlog: testBacklog(3, 1000), known: 3, itemSize: 1000, readFrom: "dlv_0003", limit: 2, bytes: 32_000 + itemBytes + eventOverhead + 2, expected: 1, from: "dlv_0003", queue: 3},
		{name: "little room, behind what is known", backlog: testBacklog(499, 1000), known: 3, itemSize: 1000, readFrom: "dlv_0003", limit: 33, bytes: 32_000 + itemBytes + eventOverhead + 2, expected: 32, from: "dlv_0003", queue: 3},
		{name: "behind what is known", backlog: testBacklog(1000, 1000), known: 3, itemSize: 1000, readFrom: "dlv_0003", limit: 500, bytes: readBytes, expected: 500, from: "dlv_0003", queue: 3},
		{
			name: "from the beginning, over what is known", backlog: testBacklog(1000, 1000), known: 3, itemSize: 1000,
			limit: 503, bytes: readBytes + 3*(itemBytes+eventOverhead+2), expected: 500, queue: 3,
		},
		{name: "heads", backlog: testBacklog(1000, 1000), known: 3, itemSize: 1000, readFrom: "dlv_0003", heads: true, limit: 500, bytes: readBytes, expected: 500, queue: 3},
	} {
		b := c.backlog
		b.offerAll(deliveries(1, 1+c.known))
		if c.itemSize > 0 {
			b.itemSize = c.itemSize
		}
		b.readFrom, b.rest = c.readFrom, unread
		b.heads.on = c.heads
		q := b.beginQuery("sub_1", now)
		if want := (feedmill.DueQuery{Subscription: "sub_1", Now: now, From: c.from, Heads: c.heads, Limit: c.limit, MaxBytes: c.bytes}); !reflect.DeepEqual(q, want) {
			t.Errorf("%s: the query is %+v, want %+v", c.name, q, want)
		}
		if b.rest != allKnown || !b.checkedAt.Equal(now) || b.memory.expected != c.expected || len(b.queue) != c.queue {
			t.Errorf("%s: the rest is %d, checked at %v; %d are expected and %d queued", c.name, b.rest, b.checkedAt, b.memory.expected, len(b.queue))
		}
	}
}

// One read leaves room for another only where both fit.
func TestExpectedTakesRoom(t *testing.T) {
	m := new(newMemory(900, 900))
	one, two := newBacklog(m), newBacklog(m)
	one.itemSize, two.itemSize = 100, 100
	if a, b := one.beginQuery("a", time.Now()), two.beginQuery("b", time.Now()); a.Limit != 500 || b.Limit != readFew {
		t.Errorf("the limits are %d and %d", a.Limit, b.Limit)
	}
}

func TestWhatIsRead(t *testing.T) {
	retrying := delivery(4)
	retrying.State = feedmill.DeliveryRetrying
	for _, c := range []struct {
		name     string
		backlog  *backlog
		during   func(*backlog) // while it is read
		limit    int
		due      []feedmill.DueDelivery
		queue    []int
		rest     rest
		readFrom feedmill.ID
		readSeq  int64
	}{
		{name: "all", backlog: testBacklog(100, 100), limit: 9, due: deliveries(1, 4), queue: []int{1, 2, 3}, readFrom: "dlv_0003", readSeq: 3},
		{name: "nothing", backlog: testBacklog(100, 100), limit: 9, readFrom: "dlv_0000"},
		{name: "as many as asked for", backlog: testBacklog(100, 100), limit: 3, due: deliveries(1, 4), queue: []int{1, 2, 3}, rest: unread, readFrom: "dlv_0003", readSeq: 3},
		{name: "more than fit", backlog: testBacklog(100, 2), limit: 9, due: deliveries(1, 4), queue: []int{1, 2}, rest: unread, readFrom: "dlv_0002", readSeq: 2},
		{
			name: "what was offered meanwhile", backlog: testBacklog(100, 100), limit: 9,
			during: func(b *backlog) { b.offerAll(deliveries(2, 4)) },
			due:    deliveries(1, 4), queue: []int{2, 3, 1}, readFrom: "dlv_0003", readSeq: 3,
		},
		{
			name: "what was left to the store meanwhile", backlog: testBacklog(100, 100), limit: 9,
			during: func(b *backlog) { b.leaveToStore(delivery(2)) },
			due:    deliveries(1, 4), queue: []int{1, 2, 3}, rest: unread, readFrom: "dlv_0002", readSeq: 3,
		},
		{
			name: "what was settled meanwhile", backlog: testBacklog(100, 100), limit: 9,
			during: func(b *backlog) { b.forget(deliveryID(2)) },
			due:    deliveries(1, 4), queue: []int{1, 3}, readFrom: "dlv_0003", readSeq: 3,
		},
		{name: "an older one at the end", backlog: testBacklog(100, 100), limit: 9, due: append(deliveries(5, 7), retrying), queue: []int{5, 6, 4}, readFrom: "dlv_0006", readSeq: 6},
		{name: "a retry at the end", backlog: testBacklog(100, 100), limit: 9, due: append(deliveries(1, 4), retrying), queue: []int{1, 2, 3, 4}, readFrom: "dlv_0003", readSeq: 4},
	} {
		b := c.backlog
		b.rest, b.readFrom, b.reading = unread, "dlv_0000", true
		q := b.beginQuery("sub_1", time.Now())
		if c.during != nil {
			c.during(b)
		}
		q.Limit = c.limit
		b.expectNothing()
		b.endQuery(q, c.due, false)
		if !slices.Equal(b.numbers(), c.queue) || b.rest != c.rest || b.readFrom != c.readFrom || b.readSeq != c.readSeq {
			t.Errorf("%s: queued are %v, the rest is %d from %q, read up to %d", c.name, b.numbers(), b.rest, b.readFrom, b.readSeq)
		}
	}
}

func TestWhenMoreIsRead(t *testing.T) {
	for _, c := range []struct {
		backlog *backlog
		queued  int
		want    bool
	}{
		{testBacklog(1000, 1000), 0, true},
		{testBacklog(1000, 1000), 249, true},
		{testBacklog(1000, 1000), 250, false},
		{testBacklog(1000, 100), 49, true},
		{testBacklog(1000, 100), 50, false},
		{testBacklog(600, 1000), 100, true},
		{testBacklog(600, 1000), 101, false}, // there is no room for all of a read
		{testBacklog(10, 1000), 2, true},
		{testBacklog(10, 1000), 3, false}, // nor for a few
		{testBacklog(10, 1000), 0, true},
		{testBacklog(0, 1000), 0, true},
		{testBacklog(1000, 3), 3, false}, // the lane has as many as it may
	} {
		b := c.backlog
		b.offerAll(deliveries(0, c.queued+1)[1:])
		if b.wantsRead() {
			t.Error("more is read where all is known")
		}
		if b.rest = unread; b.wantsRead() != c.want {
			t.Errorf("with %d queued of %d and %d, more is read: %v", c.queued, b.memory.maxQueued, b.memory.maxLane, !c.want)
		}
	}
}

// Whether what was overtaken was read is seen to at the end, and not before.
func TestOvertakenWaitForTheEnd(t *testing.T) {
	b := testBacklog(100, 100)
	b.rest, b.readFrom, b.overtaken = unread, "dlv_0005", "dlv_0002"
	q := b.beginQuery("sub_1", time.Now())
	q.Limit = 3
	if b.endQuery(q, deliveries(5, 8), false); b.overtaken != "dlv_0002" || b.readFrom != "dlv_0007" || b.rest != unread {
		t.Errorf("with more to read it is read from %q, overtaken is %q", b.readFrom, b.overtaken)
	}
}

// What failed here is read when it comes due, and not noted beyond that.
func TestRetriesThatAreRead(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		retry time.Duration
		left  int
	}{{0, 0}, {-time.Second, 0}, {time.Second, 1}} {
		b := testBacklog(100, 100)
		b.retries = dueTimes{{at: now.Add(c.retry)}}
		if b.beginQuery("sub", now); len(b.retries) != c.left {
			t.Errorf("a retry in %v is noted as %v", c.retry, b.retries)
		}
	}
}

// The size of what is read follows the payloads that were seen.
func TestItemSizeFollowsPayloads(t *testing.T) {
	b := testBacklog(1000, 1000)
	for n := range 100 {
		d := delivery(n + 1)
		d.Payload = make([]byte, 1000)
		b.offer(d, true)
	}
	if b.itemSize < 1000 || b.itemSize > 1400 {
		t.Errorf("a delivery is taken to need %d bytes", b.itemSize)
	}
}
