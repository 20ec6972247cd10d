package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newListen() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Print events as they happen, or forward them to a local URL",
		Long: `Receives events over an outgoing connection to the server; no public URL is needed.
Each event is printed with the response of the local URL. Events are forwarded like
webhooks, with the same headers and signature. Without --events, all events are received.

The signing secret is the same each time, for each server and API key. --print-secret
prints it and exits. A new API key has another secret.

A lost connection is restored, and missed events are then delivered: each event is
forwarded once, or shown as failed. Ctrl-C ends the command and removes the listener.
The server removes a disconnected listener after 10 minutes.`,
		Args: cobra.NoArgs,
	}
	var wanted client.NewListener
	var to string
	var headers []string
	var printSecret bool
	cmd.Flags().StringSliceVar(&wanted.Events, "events", nil, "event types, or families such as metric.* (default: all events)")
	cmd.Flags().StringVar(&wanted.Filters.ResourceID, "resource", "", "only events about this resource")
	cmd.Flags().StringVar(&to, "forward-to", "", "URL that events are forwarded to")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "extra header of forwarded events as name=value or name=@file (repeatable)")
	cmd.Flags().BoolVar(&printSecret, "print-secret", false, "print the signing secret and exit")
	completeFlag(cmd, "events", completeEventNames)
	onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		wanted.SigningSecret = c.ListenSecret()
		if printSecret {
			return p.printf("%s\n", wanted.SigningSecret)
		}
		if len(wanted.Events) == 0 {
			wanted.Events = []string{feedmill.EveryEvent}
		}
		extra, err := namedValues("--header", headers)
		if err != nil {
			return err
		}
		if len(extra) > 0 && to == "" {
			return usagef("--header requires --forward-to")
		}
		p.answers.stop(c) // an answer that goes on cannot be kept
		out := &listening{printer: p}
		if to != "" {
			if out.forward, err = newForwarder(to, extra); err != nil {
				return err
			}
		}
		return out.run(ctx, c, wanted)
	})
	cmd.Flags().Lookup("json").Usage = "print JSON, one object per line"
	_ = cmd.Flags().MarkHidden("output") // a stream of events has only two forms
	return cmd
}

// stop ends the recording of a client's answers.
func (t *tape) stop(c *client.Client) {
	if t.next != nil {
		c.HTTP.Transport = t.next
	}
}

// listening prints what comes, line by line.
type listening struct {
	*printer
	forward *forwarder // nil where events are only printed

	mu sync.Mutex
	// failed is why a line could not be printed.
	failed error
}

func (l *listening) run(ctx context.Context, c *client.Client, wanted client.NewListener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	check := func(err error) {
		if err != nil {
			l.failed = err
			stop() // nobody reads on
		}
	}
	err := c.Listen(ctx, wanted, client.Listening{
		Opened: func(made client.Listener) { check(l.opened(made)) },
		Handle: func(ctx context.Context, d client.ListenerDelivery) client.ListenerAnswer {
			begun := time.Now()
			answer, body := l.handle(ctx, d)
			answer.Duration = client.Milliseconds(float64(time.Since(begun).Microseconds()) / 1000)
			l.mu.Lock()
			defer l.mu.Unlock()
			check(l.event(begun, d, answer, body))
			return answer
		},
		Lost: func(err error, again time.Duration) {
			if whole, ok := errors.AsType[*url.Error](err); ok {
				err = whole.Err // the URL says nothing new
			}
			fmt.Fprintf(l.notes, "feedmill: connection lost (%s); reconnecting in %s\n", plain(err.Error()), again.Round(10*time.Millisecond))
		},
		Resumed: func() { fmt.Fprintln(l.notes, "feedmill: reconnected") },
	})
	if l.failed != nil {
		return l.failed
	}
	return err
}

// handle forwards a delivery, or takes it for good by itself.
// body is the beginning of a failed response.
func (l *listening) handle(ctx context.Context, d client.ListenerDelivery) (answer client.ListenerAnswer, body string) {
	if l.forward == nil {
		return client.ListenerAnswer{Status: http.StatusOK}, ""
	}
	status, body, err := l.forward.send(ctx, d)
	answer.Status = status
	if err != nil {
		answer.Error = err.Error()
	}
	return answer, body
}

// The lines for machines. Every one says what kind it is.
type (
	openedLine struct {
		Kind          string   `json:"kind"` // listening
		ID            string   `json:"id"`
		Events        []string `json:"events"`
		ForwardTo     string   `json:"forwardTo,omitzero"`
		SigningSecret string   `json:"signingSecret"`
	}
	eventLine struct {
		Kind       string              `json:"kind"` // event
		At         time.Time           `json:"at"`
		EventID    string              `json:"eventId"`
		DeliveryID string              `json:"deliveryId"`
		Type       string              `json:"type"`
		ResourceID string              `json:"resourceId,omitzero"`
		Test       bool                `json:"test,omitzero"`
		Status     int                 `json:"status,omitzero"`
		Duration   client.Milliseconds `json:"durationMs"`
		Error      string              `json:"error,omitzero"`
		Response   string              `json:"response,omitzero"`
		Event      json.RawMessage     `json:"event"`
	}
)

func (l *listening) opened(made client.Listener) error {
	if l.json {
		line := openedLine{Kind: "listening", ID: made.ID, Events: made.Events, SigningSecret: made.SigningSecret}
		if l.forward != nil {
			line.ForwardTo = l.forward.to
		}
		return l.line(line)
	}
	text := fmt.Sprintf("Listening to %s. Press Ctrl-C to stop. Signing secret:\n\n  %s\n\n", plain(strings.Join(made.Events, ", ")), made.SigningSecret)
	if l.forward != nil {
		text += "Forwarding to " + plain(l.forward.to) + "\n\n"
	}
	text += "Send a test event with: feedmill trigger metric.created --to " + made.ID + "\n\n"
	return l.printf("%s", text)
}

func (l *listening) event(at time.Time, d client.ListenerDelivery, a client.ListenerAnswer, body string) error {
	if l.json {
		return l.line(eventLine{
			Kind: "event", At: at.UTC().Truncate(time.Millisecond), EventID: d.EventID, DeliveryID: d.DeliveryID, Type: d.Type, ResourceID: d.ResourceID, Test: d.Test,
			Status: a.Status, Duration: a.Duration, Error: a.Error, Response: body, Event: json.RawMessage(d.Body),
		})
	}
	came := cell{text: "printed", tone: good}
	if l.forward != nil {
		came = cell{text: fmt.Sprintf("%d in %s", a.Status, a.Duration.Duration().Round(100*time.Microsecond)), tone: good}
	}
	switch {
	case a.Error != "":
		came = cell{text: fmt.Sprintf("failed after %s: %s", a.Duration.Duration().Round(100*time.Microsecond), plain(a.Error)), tone: bad}
	case a.Status < 200 || a.Status > 299:
		came.text, came.tone = "failed: "+came.text, bad
	}
	said := ""
	if body != "" {
		said = "          " + plain(body) + "\n"
	}
	return l.printf("%s  %s  %s  %s  %s\n%s", at.Local().Format(time.TimeOnly), plain(d.Type), plain(orDash(d.ResourceID).text), d.EventID, l.coloured(came), said)
}

// line prints an object on a line of its own.
func (l *listening) line(v any) error {
	return writeJSON(l.out, v, "")
}
