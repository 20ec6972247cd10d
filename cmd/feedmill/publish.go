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
		Short: "Publish an event or a file of events",
		Long: `Publishes one event, or the events of a file (- is standard input) with one JSON
object per line, as POST /events accepts them:

  {"id":"order-4711","type":"metric.created","resourceId":"m_1","data":{"value":42}}

A file is published in batches of 1,000 events; each batch is published completely or
not at all. Events with an id are published once, so it is safe to publish a file again
after a failure.`,
	}
	e := new(client.NewEvent)
	flags := cmd.Flags()
	flags.StringVar(&e.ID, "id", "", "your id of the event; an id is published once")
	flags.StringVar(&e.ResourceID, "resource", "", "resource of the event")
	data := flags.String("data", "", "the data as JSON, @file, or - for standard input")
	at := timeFlag(cmd, "time", "time of the event (default: now)")
	file := flags.StringP("file", "f", "", "publish the events of this file, one per line; - is standard input")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *file == "" {
			return oneArg("specify an event type")(cmd, args)
		}
		for _, other := range []string{"id", "resource", "data", "time"} {
			if cmd.Flags().Changed(other) {
				return fmt.Errorf("--file contains whole events and cannot be combined with --%s", other)
			}
		}
		if len(args) > 0 {
			return fmt.Errorf("--file contains whole events and cannot be combined with the type %q", args[0])
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
				return p.printf("%s  %s (duplicate: this id was published before)\n", accepted.ID, plain(accepted.Type))
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
		return nil, usagef(`--data is not valid JSON; write a text with quotes, such as '"text"'`)
	}
	return text, nil
}
