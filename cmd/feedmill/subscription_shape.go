package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/feedmill/feedmill/client"
)

// addShapeFlags adds the flags for the filter and the body of deliveries.
func (f *subscriptionFields) addShapeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.filter, "filter", "", "CEL expression that events must match, or @file")
	flags.StringVar(&f.transform, "transform", "", "CEL expression that makes the request body, or @file")
	flags.StringVar(&f.preset, "preset", "", "built-in request body: slack, teams, discord or text")
}

// readShape reads the expressions that are in files.
func (f *subscriptionFields) readShape() (err error) {
	if f.filter, err = textOrFile("--filter", f.filter); err == nil {
		f.transform, err = textOrFile("--transform", f.transform)
	}
	return err
}

// textOrFile is the value of a flag, or the content of the file that it names after an @.
func textOrFile(flag, value string) (string, error) {
	path, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		return value, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", usagef("%s: %v", flag, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// changeShape adds what the flags specify to a change.
func (f *subscriptionFields) changeShape(change *client.SubscriptionChange) error {
	if err := f.readShape(); err != nil {
		return err
	}
	if f.given("filter") {
		change.Filter = orReset(f.filter)
	}
	if f.given("transform") {
		change.Transform = orReset(f.transform)
	}
	if f.given("preset") {
		change.Preset = orReset(f.preset)
	}
	return nil
}

// errNotSent is the outcome of a preview in which nothing would be sent.
var errNotSent = errors.New("the event would not be sent")

func newSubscriptionsPreview() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "preview --event JSON",
		Short: "Show what a subscription would send for an event",
		Long: `Evaluates a filter and a transformation for a sample event. Nothing is stored or sent.
The event is a JSON object, or @file, with type, data and optionally resourceId and timestamp.
If the event would not be sent, the exit code is 1.`,
		Args: cobra.NoArgs,
	}
	f := &subscriptionFields{cmd: cmd}
	var event string
	flags := cmd.Flags()
	flags.StringSliceVar(&f.events, "events", nil, "event types, or families such as metric.* (default: the type of the event)")
	flags.StringVar(&f.resource, "resource", "", "only events about this resource")
	flags.StringVar(&event, "event", "", "sample event as JSON, or @file")
	f.addShapeFlags(flags)
	completeFlag(cmd, "events", completeEventNames)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		if event == "" {
			return usagef("specify --event")
		}
		sample, err := textOrFile("--event", event)
		if err != nil {
			return err
		}
		if err := f.readShape(); err != nil {
			return err
		}
		var of client.EventSample
		if err := json.Unmarshal([]byte(sample), &of); err != nil {
			return usagef("--event is not a valid event: %v", err)
		}
		if len(f.events) == 0 {
			f.events = []string{of.Type}
		}
		preview, err := c.PreviewSubscription(ctx, client.SubscriptionSample{
			Events: f.events, Filters: client.Filters{ResourceID: f.resource}, Filter: f.filter, Transform: f.transform, Preset: f.preset,
		}, of)
		if err != nil {
			return err
		}
		if err := shown(p, preview, nil, (*printer).preview); err != nil || preview.Reason == "" {
			return err
		}
		return errNotSent
	})
}

func (p *printer) preview(v client.SubscriptionPreview) error {
	if v.Reason != "" {
		return p.printf("%s\n", v.Detail)
	}
	return p.printf("%s\n\n%s\n", v.ContentType, v.Body)
}

// errEndpoint is the outcome of a test that failed; what the endpoint said is
// printed as the outcome of any test is.
var errEndpoint = errors.New("the endpoint did not return a success status")

func newSubscriptionsTest() *cobra.Command {
	cmd := oneSubscription("test", "Send a test event and show the response")
	var e client.TestEvent
	var data string
	cmd.Flags().StringVar(&e.Type, "type", "", "event type (default test.ping)")
	cmd.Flags().StringVar(&data, "data", "", "data of the event as a JSON object, or @file")
	completeFlag(cmd, "type", completeEventNames)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		text, err := textOrFile("--data", data)
		if err != nil {
			return err
		}
		if text != "" {
			if e.Data = json.RawMessage(text); !json.Valid(e.Data) {
				return usagef("--data is not valid JSON")
			}
		}
		ping, err := c.TestSubscription(ctx, args[0], e)
		return p.tested(ping, err)
	})
}

// tested prints the outcome of a test.
func (p *printer) tested(ping client.Ping, err error) error {
	if err != nil {
		return err
	}
	if err := shown(p, ping, nil, (*printer).ping); err != nil || ping.Succeeded {
		return err
	}
	return errEndpoint
}
