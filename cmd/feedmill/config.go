package main

import (
	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/app"
)

func newConfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and print the configuration, with secrets masked",
		Args:  cobra.NoArgs,
	}
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		if err := app.Check(c); err != nil {
			return err
		}
		return c.Print(cmd.OutOrStdout())
	}
	return cmd
}
