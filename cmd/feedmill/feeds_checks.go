package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsChecks() *cobra.Command {
	return onServer(oneFeed("checks", "Check a feed against its expectations"), func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		checks, err := c.Checks(ctx, args[0])
		return shown(p, checks, err, (*printer).checks)
	})
}

// checks prints the checks of a feed with their last results.
func (p *printer) checks(checks client.Checks) error {
	t := table{header: []string{"CHECK", "COLUMN", "CURRENT VERSION", "FOUND", "LAST REFRESHES", "FAILED"}}
	for _, c := range checks.Checks {
		passed := cell{text: "passed", tone: good}
		switch {
		case c.Passed == nil:
			passed = text("-")
		case !*c.Passed:
			passed = cell{text: "failed", tone: bad}
		}
		t.add(text(c.Check), orDash(c.Column), passed, count(c.Found), count(int64(len(c.Results))), count(c.Failed()))
	}
	return p.table(t)
}
