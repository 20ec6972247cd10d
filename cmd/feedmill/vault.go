package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/app"
)

func newVault() *cobra.Command {
	parent := &cobra.Command{Use: "vault", Short: "Manage encryption keys"}
	onlyHelps(parent)
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Encrypt new secrets with a new key",
		Long: `Adds a new key to the vault. New secrets are encrypted with it; secrets that older keys
encrypted stay readable. With SQLite, stop the server first. With PostgreSQL the server
can keep running; set --data to a folder that it does not use.`,
		Args: cobra.NoArgs,
	}
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		a, err := app.OpenExisting(cmd.Context(), c, app.NewLog(c))
		if err != nil {
			return err
		}
		defer a.Close()
		if err := a.RotateVault(cmd.Context()); err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "New secrets are encrypted with a new key.")
		return err
	}
	parent.AddCommand(cmd)
	return parent
}
