package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// NewListener says what to listen to.
type NewListener struct {
	// Events are exact types and wildcards of families such as "metric.*".
	Events  []string `json:"events"`
	Filters Filters  `json:"filters,omitzero"`
	// SigningSecret is a secret of your own; empty means a generated one.
	SigningSecret string `json:"signingSecret,omitzero"`
}

// Listener is a temporary subscription whose deliveries come over a connection
// to the server. It ends ten minutes after it was last connected, and after a
// day in any case.
type Listener struct {
	ID        string    `json:"id"`
	Events    []string  `json:"events"`
	Filters   Filters   `json:"filters,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	// SigningSecret signs its deliveries; it is in the answer to the creation only.
	SigningSecret string `json:"signingSecret,omitzero"`
}

// CreateListener makes a listener. [Client.Listen] makes one and does all the
// rest, too.
func (c *Client) CreateListener(ctx context.Context, l NewListener, opts ...CallOption) (Listener, error) {
	return ask[Listener](ctx, c, http.MethodPost, "/events/listeners", l, opts...)
}

func listenerPath(id string) string { return "/events/listeners/" + url.PathEscape(id) }

// Listener returns a listener without its secret.
func (c *Client) Listener(ctx context.Context, id string) (Listener, error) {
	return ask[Listener](ctx, c, http.MethodGet, listenerPath(id), nil)
}

// DeleteListener removes a listener. What it has not answered is discarded.
func (c *Client) DeleteListener(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, listenerPath(id), nil, nil)
	return err
}

// TestListener sends an event to a listener now. The event is not published, and the listener
// does not answer it.
func (c *Client) TestListener(ctx context.Context, id string, e TestEvent, opts ...CallOption) error {
	_, err := c.call(ctx, http.MethodPost, listenerPath(id)+"/test", e, nil, opts...)
	return err
}

// ListenerDelivery is a delivery as a webhook would have it.
type ListenerDelivery struct {
	DeliveryID string `json:"deliveryId"`
	EventID    string `json:"eventId"`
	Type       string `json:"type"`
	ResourceID string `json:"resourceId"`
	// Attempt counts from 1. The same attempt may come several times, over
	// several connections, until it is answered.
	Attempt int `json:"attempt"`
	// Test marks an event that was not published. It is not answered.
	Test bool `json:"test,omitzero"`
	// Headers are those of the request, signatures included.
	Headers map[string]string `json:"headers"`
	// Body is the text that is signed.
	Body string `json:"body"`
}

// ListenerLine is a line of a listener's stream.
type ListenerLine struct {
	// Kind is "delivery", "heartbeat" or "end".
	Kind string `json:"kind"`
	ListenerDelivery
	// ExpiresAt is of a heartbeat: when the listener ends unless it is connected.
	ExpiresAt time.Time `json:"expiresAt"`
	// Reason says why the stream ends.
	Reason string `json:"reason"`
}

// maxSilence is how long a stream may say nothing. The server gives a sign of
// life every 15 seconds.
const maxSilence = 45 * time.Second

var errSilent = errors.New("the server sent nothing for too long")

// ListenerStream connects to a listener and goes through what comes, until the
// connection ends, with an error where the server has not said why.
func (c *Client) ListenerStream(ctx context.Context, id string) iter.Seq2[ListenerLine, error] {
	return func(yield func(ListenerLine, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		silence := time.AfterFunc(maxSilence, func() { cancel(errSilent) })
		defer silence.Stop()

		endless := *c
		endless.HTTP = &http.Client{Transport: c.HTTP.Transport, CheckRedirect: c.HTTP.CheckRedirect, Jar: c.HTTP.Jar}
		r := request{method: http.MethodGet, path: listenerPath(id) + "/stream"}
		resp, err := endless.try(ctx, r)
		if err != nil {
			yield(ListenerLine{}, orCause(ctx, err))
			return
		}
		defer resp.Body.Close()
		for lines := json.NewDecoder(resp.Body); ; {
			var line ListenerLine
			if err := lines.Decode(&line); err != nil {
				if errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				yield(ListenerLine{}, fmt.Errorf("%s %s: %w", r.method, r.path, orCause(ctx, err)))
				return
			}
			silence.Reset(maxSilence)
			if !yield(line, nil) || line.Kind == "end" {
				return
			}
		}
	}
}

// orCause is why a context was cancelled, or the error where it was not.
func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// ListenerAnswer says what became of a delivery. It is a success with a Status
// of 2xx and no Error.
type ListenerAnswer struct {
	DeliveryID string       `json:"deliveryId"`
	Attempt    int          `json:"attempt"`
	Status     int          `json:"status,omitzero"`
	Duration   Milliseconds `json:"durationMs"`
	// Error says why no good answer came, in up to 500 characters on one line.
	Error string `json:"error,omitzero"`
}

// AnswerListener answers up to 100 deliveries of a listener. To answer again
// changes nothing.
func (c *Client) AnswerListener(ctx context.Context, id string, answers []ListenerAnswer, opts ...CallOption) error {
	_, err := c.call(ctx, http.MethodPost, listenerPath(id)+"/answers", answers, nil, opts...)
	return err
}
