package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newEventsPublish() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish TYPE | publish --file FILE",
		Short: "Publish an event, or those of a file",
		Long: `Publishes one event of a type, or the events of a file (- is standard input) with
one JSON object on each line, as POST /events takes them:

  {"id":"order-4711","type":"metric.created","resourceId":"m_1","data":{"value":42}}

A file is published a thousand events at a time, each thousand all or nothing.
Events with an id are published once, so that a file that failed halfway can be
published again.`,
		Example: `  feedmill events publish metric.created --resource m_1 --data '{"value": 42}'
  feedmill events publish --file events.ndjson`,
	}
	e := new(client.NewEvent)
	flags := cmd.Flags()
	flags.StringVar(&e.ID, "id", "", "your own id, which is published once")
	flags.StringVar(&e.ResourceID, "resource", "", "what the event is about")
	data := flags.String("data", "", "the data as JSON, @file, or - for standard input")
	at := timeFlag(cmd, "time", "when it happened, by default now")
	file := flags.StringP("file", "f", "", "publish the events of this file, one on each line; - is standard input")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *file == "" {
			return oneArg("say which type of event")(cmd, args)
		}
		for _, other := range []string{"id", "resource", "data", "time"} {
			if cmd.Flags().Changed(other) {
				return fmt.Errorf("--file has whole events, so it cannot stand beside --%s", other)
			}
		}
		if len(args) > 0 {
			return fmt.Errorf("--file has whole events, so it cannot stand beside the type %q", args[0])
		}
		return nil
	}
	cmd.ValidArgsFunction = completeFirst(completeTypes)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if *file != "" {
			return publishFile(ctx, c, *file, cmd.InOrStdin(), p)
		}
		e.Type, e.Timestamp = args[0], time.Time(*at)
		if *data != "" {
			text, err := dataText(*data, cmd.InOrStdin())
			if err != nil {
				return err
			}
			e.Data = text
		}
		accepted, err := c.Publish(ctx, *e)
		return shown(p, accepted, err, func(p *printer, accepted client.Accepted) error {
			if accepted.Duplicate {
				return p.printf("%s  %s, a duplicate: this id was published before\n", accepted.ID, plain(accepted.Type))
			}
			return p.printf("%s  %s\n", accepted.ID, plain(accepted.Type))
		})
	})
}

// dataText is what --data says: JSON, the file that has it, or - for stdin.
func dataText(data string, stdin io.Reader) (json.RawMessage, error) {
	text := []byte(data)
	var err error
	if name, ok := strings.CutPrefix(data, "@"); ok {
		text, err = os.ReadFile(name)
	} else if data == "-" {
		text, err = io.ReadAll(stdin)
	}
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if !json.Valid(text) {
		return nil, usagef(`--data is no JSON; a text is written with its quotes, such as '"text"'`)
	}
	return text, nil
}
