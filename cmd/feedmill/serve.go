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
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		c, err := load()
		if err != nil {
			return err
		}
		a, err := app.Open(cmd.Context(), c, app.NewLog(c))
		if err != nil {
			return err
		}
		defer func() {
			if closing := a.Close(); err == nil {
				err = closing
			}
		}()
		return a.Serve(cmd.Context(), version, cmd.OutOrStdout())
	}
	return cmd
}
