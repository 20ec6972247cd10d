package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

// expectFlags say what is expected of a feed.
type expectFlags struct{ policy, rows, every string }

// nothing is what takes an expectation back.
const nothing = "off"

func (e *expectFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&e.policy, "schema-policy", "", "action for data with other columns: widen or freeze")
	f.StringVar(&e.rows, "expect", "", `checks on the rows, such as '{"minRows":10,"maxDrop":0.2,"notNull":["id"],"unique":["id"]}'; off to remove them`)
	f.StringVar(&e.every, "expect-every", "", "time without new data after which the feed is stale, such as 1d, or off")
	completeFlag(cmd, "schema-policy", completeOf("widen", "freeze"))
}

// given reports whether something is said of what is expected.
func (e *expectFlags) given(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"schema-policy", "expect", "expect-every"}, cmd.Flags().Changed)
}

// into notes in a change what is expected.
func (e *expectFlags) into(cmd *cobra.Command, change *client.DataFeedChange) error {
	if cmd.Flags().Changed("schema-policy") {
		change.SchemaPolicy = client.To(e.policy)
	}
	switch {
	case e.every == nothing:
		change.ExpectEvery = client.Reset[string]()
	case e.every != "":
		change.ExpectEvery = client.To(e.every)
	}
	switch {
	case e.rows == nothing:
		change.Expect = client.Reset[client.Expect]()
	case e.rows != "":
		var rows client.Expect
		d := json.NewDecoder(strings.NewReader(e.rows))
		d.DisallowUnknownFields()
		if err := d.Decode(&rows); err != nil {
			return usagef("--expect: %w", err)
		}
		change.Expect = client.To(rows)
	}
	return nil
}
