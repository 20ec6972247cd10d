package main

import (
	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/app"
)

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Args:  cobra.NoArgs,
	}
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		return app.Run(cmd.Context(), c, app.NewLog(c), version, cmd.OutOrStdout())
	}
	return cmd
}
