package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/app"
)

func newVault() *cobra.Command {
	parent := &cobra.Command{Use: "vault", Short: "Look after the secrets at rest"}
	onlyHelps(parent)
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Seal new secrets with a new key",
		Long: `Adds a new key to the vault's keyset and seals everything from now on with it.
What older keys have sealed stays readable. On the embedded store the service
must be stopped; on PostgreSQL it may go on running, with --data naming a folder
that it does not use.`,
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
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "New secrets are sealed with a new key.")
		return err
	}
	parent.AddCommand(cmd)
	return parent
}
