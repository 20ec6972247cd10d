package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/expression"
)

// receiver keeps the arrays that were sent, as the numbers of their events.
type receiver struct {
	mu       sync.Mutex
	arrays   [][]int
	messages []feedmill.Message
	at       []time.Time
	respond  func(array []int) feedmill.Result
}

func (r *receiver) send(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
	numbers, err := numbersOf(m.Payload)
	if err != nil {
		return feedmill.Result{Verdict: feedmill.VerdictRejected, Error: err.Error()}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrays, r.messages, r.at = append(r.arrays, numbers), append(r.messages, m), append(r.at, time.Now())
	if r.respond != nil {
		return r.respond(numbers)
	}
	return answered200
}

// numbersOf are the numbers of the events of an array.
func numbersOf(array []byte) (numbers []int, err error) {
	var events []struct{ Data struct{ N int } }
	err = json.Unmarshal(array, &events)
	for _, e := range events {
		numbers = append(numbers, e.Data.N)
	}
	return numbers, err
}

// publish accepts numbered events, from the first number on, and offers them.
func (h *harness) publish(first, n int, resource string) []feedmill.DueDelivery {
	h.Helper()
	events := make([]feedmill.Event, n)
	for i := range events {
		r := resource
		if r == "" {
			r = fmt.Sprint("r", first+i)
		}
		events[i] = h.newEvent(r, fmt.Sprintf(`{"data":{"n":%d}}`, first+i))
	}
	due := h.acceptEvents(events...)
	h.dispatcher.Offer(due)
	return due
}

func batches(most int, wait time.Duration) feedmill.DeliverySettings {
	return feedmill.DeliverySettings{Batch: feedmill.Batch{MaxEvents: most, MaxWait: wait}}
}

func span(first, n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, first+i)
	}
	return numbers
}

// An array is sent when it is full, or when its first event has waited long enough.
func TestBatchesFill(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		r := new(receiver)
		runDispatcher(t, Options{}, r.send, func(h *harness) {
			settings := batches(10, 20*time.Second)
			settings.Ordered = ordered
			h.subscribe(settings)
			began := time.Now()
			for i := range 4 {
				h.publish(3*i, 3, "")
				time.Sleep(time.Second)
			}
			h.publish(100, 1, "")
			time.Sleep(time.Minute)
			synctest.Wait()
			all := slices.Concat(r.arrays...)
			if slices.Sort(all); len(r.arrays) != 2 || len(r.arrays[0]) != 10 || !slices.Equal(all, append(span(0, 12), 100)) {
				h.Errorf("ordered %v: the arrays are %v", ordered, r.arrays)
				return
			}
			if full, rest := r.at[0].Sub(began), r.at[1].Sub(began); full > 4*time.Second || rest < 22*time.Second || rest > 24*time.Second {
				h.Errorf("ordered %v: a full array is sent after %s, the rest after %s", ordered, full, rest)
			}
			if h.open() != 0 {
				h.Errorf("ordered %v: %d deliveries are open", ordered, h.open())
			}
		})
	}
}

// Arrays have their own id, which depends on the deliveries and their order alone.
func TestBatchHeaders(t *testing.T) {
	r := new(receiver)
	runDispatcher(t, Options{}, r.send, func(h *harness) {
		sub := h.subscribe(batches(3, time.Second))
		due := h.publish(0, 4, "")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(r.messages) != 2 {
			h.Errorf("%v were sent", r.arrays)
			return
		}
		whole, single := r.messages[0], r.messages[1]
		for name, want := range map[string]string{
			"Webhook-Id": feedmill.BatchID([]feedmill.ID{due[0].ID, due[1].ID, due[2].ID}), "X-Service-Event": "", "X-Service-Delivery": "", "X-Service-Attempt": "1", "Content-Type": "application/json",
		} {
			if got := headerOf(whole, name); got != want {
				h.Errorf("an array has %s %q, want %q", name, got, want)
			}
		}
		for name, want := range map[string]string{
			"Webhook-Id": feedmill.BatchID([]feedmill.ID{due[3].ID}), "X-Service-Event": "metric.created", "X-Service-Delivery": string(due[3].ID), "X-Service-Attempt": "1",
		} {
			if got := headerOf(single, name); got != want {
				h.Errorf("an array of one has %s %q, want %q", name, got, want)
			}
		}
		if string(whole.Payload) != `[{"data":{"n":0}},{"data":{"n":1}},{"data":{"n":2}}]` || string(single.Payload) != `[{"data":{"n":3}}]` {
			h.Errorf("%s and %s are sent", whole.Payload, single.Payload)
		}
		if _, err := h.dispatcher.Test(h.Context(), h.subscription(sub), feedmill.NewEvent{Type: "metric.updated"}); err != nil || !strings.HasPrefix(string(r.messages[2].Payload), `[{"id":`) || len(headerOf(r.messages[2], "Webhook-Id")) != len(headerOf(whole, "Webhook-Id")) {
			h.Errorf("a test sends %s, %v", r.messages[2].Payload, err)
		}
	})
}

// An event that is always refused ends alone; the others of its array are delivered with
// their second attempt.
func TestPoisonInABatch(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		r := new(receiver)
		r.respond = func(array []int) feedmill.Result {
			if slices.Contains(array, 42) {
				return answered500
			}
			return answered200
		}
		runDispatcher(t, Options{Schedule: feedmill.RetrySchedule{5 * time.Second, 5 * time.Second}}, r.send, func(h *harness) {
			settings := batches(100, time.Second)
			settings.Ordered = ordered
			h.subscribe(settings)
			resource := ""
			if ordered {
				resource = "one"
			}
			due := h.publish(0, 60, resource)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			for i, d := range due {
				got := h.delivery(d.ID)
				switch {
				case i == 42 && (got.State != feedmill.DeliveryExhausted || got.Attempts != 10):
					h.Errorf("ordered %v: the poison is %s after %d attempts", ordered, got.State, got.Attempts)
				case i != 42 && (got.State != feedmill.DeliveryDelivered || got.Attempts != 2):
					h.Errorf("ordered %v: event %d is %s after %d attempts", ordered, i, got.State, got.Attempts)
				}
			}
			if len(r.arrays[0]) != 60 || slices.ContainsFunc(r.arrays[1:], func(a []int) bool { return len(a) != 1 }) {
				h.Errorf("ordered %v: %v are sent", ordered, r.arrays)
			}
			if ordered {
				delivered := slices.DeleteFunc(slices.Concat(r.arrays[1:]...), func(n int) bool { return n == 42 })
				if want := slices.DeleteFunc(span(0, 60), func(n int) bool { return n == 42 }); !slices.Equal(delivered, want) {
					h.Errorf("the order is %v", delivered)
				}
			}
		})
	}
}

// Events of one resource keep their order, within an array and from one array to the next. Events of
// other resources are not delayed.
func TestOrderedBatches(t *testing.T) {
	var mu sync.Mutex
	last, inFlight := make(map[int]int), make(map[int]bool)
	failures := 0
	arrays := 0
	to := func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		numbers, err := numbersOf(m.Payload)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		arrays++
		fails := arrays%7 == 0
		mine := make(map[int]bool)
		before := make(map[int]int)
		for _, n := range numbers {
			resource := n % 5
			if inFlight[resource] && !mine[resource] {
				t.Errorf("resource %d is in two requests", resource)
			}
			if _, ok := before[resource]; !ok {
				before[resource] = last[resource]
			}
			if n <= before[resource] && before[resource] != 0 {
				t.Errorf("%d comes after %d", n, before[resource])
			}
			before[resource] = n
			mine[resource], inFlight[resource] = true, true
		}
		mu.Unlock()
		time.Sleep(300 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		for resource := range mine {
			delete(inFlight, resource)
		}
		if fails {
			failures++
			return answered500
		}
		for _, n := range numbers {
			last[n%5] = n
		}
		return answered200
	}
	runDispatcher(t, Options{Schedule: feedmill.RetrySchedule{time.Second, time.Second, time.Second, time.Second, time.Second}}, to, func(h *harness) {
		settings := batches(20, 2*time.Second)
		settings.Ordered = true
		h.subscribe(settings)
		n := 0
		for range 60 {
			for range 5 {
				n++
				h.publish(n, 1, fmt.Sprint("r", n%5))
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if h.open() != 0 || failures == 0 {
			h.Errorf("%d are open after %d arrays and %d failures", h.open(), arrays, failures)
		}
		if arrays > 250 {
			h.Errorf("%d arrays for %d events", arrays, n)
		}
	})
}

// An array has at most MaxBatchBytes; what its transformation makes larger is sent later.
func TestLargeBatches(t *testing.T) {
	for name, transform := range map[string]string{"payloads": "", "transformed": `{'data': {'n': event.data.n}, 'x': event.data.x + event.data.x + event.data.x + event.data.x + event.data.x}`} {
		r := new(receiver)
		runDispatcher(t, Options{Shape: expression.New().Body}, r.send, func(h *harness) {
			h.subscribe(batches(100, time.Second), func(s *feedmill.Subscription) { s.Shape.Transform = transform })
			size := 100 << 10
			if transform != "" {
				size = 12 << 10
			}
			for i := range 40 {
				h.dispatcher.Offer(h.acceptPayload(fmt.Sprint("r", i), fmt.Sprintf(`{"data":{"n":%d,"x":%q}}`, i, strings.Repeat("x", size))))
			}
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			all := slices.Sorted(slices.Values(slices.Concat(r.arrays...)))
			if !slices.Equal(all, span(0, 40)) || h.open() != 0 {
				h.Errorf("%s: %d are open, sent are %v", name, h.open(), r.arrays)
			}
			for i, m := range r.messages {
				if len(m.Payload) > feedmill.MaxBatchBytes || len(m.Payload) < feedmill.MaxBatchBytes/2 && i < len(r.messages)-3 {
					h.Errorf("%s: array %d has %d bytes and %d events", name, i, len(m.Payload), len(r.arrays[i]))
				}
			}
		})
	}
}

// A transformation that fails ends its own delivery and no other of the array.
func TestFailedTransformationInABatch(t *testing.T) {
	r := new(receiver)
	runDispatcher(t, Options{Shape: expression.New().Body}, r.send, func(h *harness) {
		h.subscribe(batches(10, time.Second), func(s *feedmill.Subscription) {
			s.Shape.Transform = `{'data': {'n': event.data.n}, 'x': 1 / (int(event.data.n) % 3)}`
		})
		due := h.publish(0, 10, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, d := range due {
			got := h.delivery(d.ID)
			if want := map[bool]feedmill.DeliveryState{true: feedmill.DeliveryExhausted, false: feedmill.DeliveryDelivered}[i%3 == 0]; got.State != want {
				h.Errorf("event %d is %s (%s), want %s", i, got.State, got.Reason, want)
			}
		}
		if fmt.Sprint(r.arrays) != "[[1 2 4 5 7 8]]" {
			h.Errorf("%v are sent", r.arrays)
		}
	})
}

// A disabled endpoint is disabled once, and a lost array counts as one failure.
func TestBatchesOfAFailingEndpoint(t *testing.T) {
	r := new(receiver)
	r.respond = func([]int) feedmill.Result { return answered500 }
	runDispatcher(t, Options{Schedule: feedmill.RetrySchedule{time.Hour}}, r.send, func(h *harness) {
		sub := h.subscribe(batches(50, time.Second))
		h.publish(0, 50, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := h.subscription(sub); s.Failures != 1 {
			h.Errorf("an array counts as %d failures", s.Failures)
		}
		r.respond = func([]int) feedmill.Result { return answered410 }
		h.publish(50, 50, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := h.subscription(sub); s.State != feedmill.SubscriptionDisabled || h.open() != 0 {
			h.Errorf("the subscription is %s and %d are open", s.State, h.open())
		}
	})
}

// What a crash leaves unwritten is sent again, all of an array; and what is in the store when
// a process starts is sent in arrays, too.
func TestBatchesAreWrittenAsOne(t *testing.T) {
	r := new(receiver)
	runDispatcher(t, Options{}, r.send, func(h *harness) {
		settings := batches(40, time.Second)
		settings.Ordered = true
		h.subscribe(settings)
		h.publish(0, 40, "one")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(r.arrays) == 0 || int(h.store.mostOutcomes.Load()) != len(slices.MaxFunc(r.arrays, func(a, b []int) int { return len(a) - len(b) })) {
			h.Errorf("%d outcomes are written together, arrays are %v", h.store.mostOutcomes.Load(), r.arrays)
		}
		if all := slices.Concat(r.arrays...); !slices.Equal(all, span(0, 40)) {
			h.Errorf("%v are sent", all)
		}
	})
}
