package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// lineTimeout is how long a listener may take to fetch a line.
const lineTimeout = 30 * time.Second

// listenerLine is one line of a listener's stream: a delivery, a sign of life,
// or why the stream ends.
type listenerLine struct {
	Kind string `json:"kind"`

	Delivery   feedmill.ID       `json:"deliveryId,omitzero"`
	Event      feedmill.ID       `json:"eventId,omitzero"`
	Type       string            `json:"type,omitzero"`
	ResourceID string            `json:"resourceId,omitzero"`
	Attempt    int               `json:"attempt,omitzero"`
	Test       bool              `json:"test,omitzero"`
	Headers    map[string]string `json:"headers,omitzero"`
	Body       string            `json:"body,omitzero"`

	ExpiresAt timestamp `json:"expiresAt,omitzero"`

	Reason string `json:"reason,omitzero"`
}

// credentialEnded is why a stream ends whose credential holds no more.
const credentialEnded = "credential"

func (s *Server) streamListener(c *call) (answer, error) {
	sub, err := s.listener(c)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusOK, contentType: "application/x-ndjson"}
	a.set("Cache-Control", "no-store")
	a.set("X-Accel-Buffering", "no") // proxies pass on each line as it comes
	a.stream = func(ctx context.Context, w http.ResponseWriter) {
		ctx, stop := s.whileAdmitted(ctx, c, feedmill.ScopeWrite)
		defer stop()
		out := liveWriter{w, http.NewResponseController(w)}
		why := s.Listeners.Stream(ctx, sub, func(m feedmill.ListenerMessage) error {
			if m.Delivery != nil {
				return out.line(deliveryLine(m))
			}
			return out.line(listenerLine{Kind: "heartbeat", ExpiresAt: timestamp(m.Until)})
		})
		if errors.Is(context.Cause(ctx), errNotAdmitted) {
			why = credentialEnded
		}
		if why != feedmill.ListenerBroken {
			out.line(listenerLine{Kind: "end", Reason: string(why)})
		}
	}
	return a, nil
}

func deliveryLine(m feedmill.ListenerMessage) listenerLine {
	d := m.Delivery
	return listenerLine{
		Kind: "delivery", Delivery: d.ID, Event: d.Event, Type: feedmill.PublicName(d.Type), ResourceID: d.ResourceID, Attempt: d.Attempts + 1, Test: m.Test,
		Headers: m.Headers, Body: string(d.Payload),
	}
}

func (l liveWriter) line(line listenerLine) error {
	text, err := json.Marshal(line, json.Deterministic(true))
	if err != nil {
		return err
	}
	return l.write("%s\n", text)
}
