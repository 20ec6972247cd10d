package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/feedmill/feedmill"
)

// handling is what a listener has done: it hands each attempt on once, and
// says what came of it until the server has heard.
type handling struct {
	c      *Client
	id     string
	handle func(context.Context, ListenerDelivery) ListenerAnswer
	under  sync.WaitGroup
	more   chan struct{}

	mu sync.Mutex
	// known are the attempts that have come, with their answers where there
	// are any. An attempt that comes again is only answered again.
	known map[attemptKey]*ListenerAnswer
	// queue are the answers to send; heard are the attempts whose answers the
	// server has, oldest first.
	queue []ListenerAnswer
	heard []attemptKey
}

type attemptKey struct {
	delivery string
	attempt  int
}

func (a ListenerAnswer) key() attemptKey { return attemptKey{a.DeliveryID, a.Attempt} }

const (
	// maxHeard is how many attempts are remembered after the server has heard
	// what became of them: it may have sent some of them again just before.
	maxHeard = 10_000
	// maxAnswers and maxAnswerError are what the server takes.
	maxAnswers     = feedmill.MaxListenerAnswers
	maxAnswerError = 500
	// answerTimeout bounds one try to answer.
	answerTimeout = 15 * time.Second
)

func newHandling(c *Client, id string, handle func(context.Context, ListenerDelivery) ListenerAnswer) *handling {
	return &handling{c: c, id: id, handle: handle, more: make(chan struct{}, 1), known: make(map[attemptKey]*ListenerAnswer)}
}

// handOn hands a delivery on, in a goroutine of its own, unless it came before.
func (h *handling) handOn(ctx context.Context, d ListenerDelivery) {
	key := attemptKey{d.DeliveryID, d.Attempt}
	h.mu.Lock()
	defer h.mu.Unlock()
	if answer, known := h.known[key]; known {
		if answer != nil && !slices.ContainsFunc(h.queue, func(a ListenerAnswer) bool { return a.key() == key }) {
			h.send(*answer)
		}
		return
	}
	h.known[key] = nil
	h.under.Go(func() {
		answer := acceptable(h.handle(ctx, d))
		if d.Test {
			return
		}
		answer.DeliveryID, answer.Attempt = d.DeliveryID, d.Attempt
		h.mu.Lock()
		defer h.mu.Unlock()
		h.known[key] = &answer
		h.send(answer)
	})
}

// send queues an answer. The mutex is held.
func (h *handling) send(a ListenerAnswer) {
	h.queue = append(h.queue, a)
	select {
	case h.more <- struct{}{}:
	default: // it is about to look anyway
	}
}

// acceptable is an answer as the server takes it.
func acceptable(a ListenerAnswer) ListenerAnswer {
	a.Error = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(a.Error, "\ufffd"))
	if runes := []rune(a.Error); len(runes) > maxAnswerError {
		a.Error = string(runes[:maxAnswerError])
	}
	if a.Status < 100 || a.Status > 599 {
		if a.Error == "" {
			a.Error = fmt.Sprintf("the handler returned status %d", a.Status)
		}
		a.Status = 0
	}
	a.Duration = max(a.Duration, 0)
	return a
}

// wait waits for what is being handled.
func (h *handling) wait() { h.under.Wait() }

// answerAll sends answers as they come until ctx ends. What the server cannot
// take now is sent later; an error is that it never will.
func (h *handling) answerAll(ctx context.Context) error {
	wait := firstWait
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.more:
		}
		for {
			left, err := h.answerOnce(ctx)
			if err == nil && !left {
				break
			}
			if err == nil {
				wait = firstWait
				continue
			}
			if _, again := reconnect(err); !again {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(wait):
			}
			wait = min(2*wait, longestBreak)
		}
	}
}

// answerOnce sends the answers that wait, as many as a request takes, and
// reports whether more are left. Those of a listener that is no more are
// dropped: its stream says so, too.
func (h *handling) answerOnce(ctx context.Context) (left bool, err error) {
	h.mu.Lock()
	batch := slices.Clone(h.queue[:min(len(h.queue), maxAnswers)])
	h.mu.Unlock()
	if len(batch) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err = h.c.AnswerListener(ctx, h.id, batch, IdempotencyKey("")) // to answer twice is harmless
	if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
		return true, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = h.queue[len(batch):]
	for _, a := range batch {
		h.heard = append(h.heard, a.key())
	}
	for len(h.heard) > maxHeard {
		delete(h.known, h.heard[0])
		h.heard = h.heard[1:]
	}
	return len(h.queue) > 0, nil
}
