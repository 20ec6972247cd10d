package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newLogin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Save a server address and an API key",
		Long: `Prompts for an API key, or reads it from standard input if that is not a terminal.
Tests the key and saves it with the server address in a file that only you can read:
feedmill/credentials.json in your configuration folder (on Linux XDG_CONFIG_HOME,
by default ~/.config).

--server overrides FEEDMILL_SERVER, which overrides the saved server.
FEEDMILL_API_KEY overrides the saved key.`,
		Args: cobra.NoArgs,
	}
	server := serverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// A file that cannot be used is what a new login mends.
		kept, _ := loadCredentials()
		to := credentials{Server: defaultServer}
		for _, named := range []string{kept.Server, os.Getenv("FEEDMILL_SERVER"), *server} {
			if named != "" {
				to.Server = trimServer(named)
			}
		}
		if err := checkServer(to.Server); err != nil {
			return err
		}
		warnPlain(cmd.ErrOrStderr(), to.Server)
		var err error
		if to.Key, err = readSecret(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr(), "API key for "+to.Server+": "); err != nil {
			return fmt.Errorf("cannot read the key: %w", err)
		}
		if to.Key == "" {
			return usagef("no key was entered")
		}
		if err := tryKey(cmd.Context(), to); err != nil {
			return err
		}
		path, err := to.save()
		if err != nil {
			return err
		}
		if os.Getenv("FEEDMILL_API_KEY") != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "FEEDMILL_API_KEY is set and overrides this login.")
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "Logged in to %s. The key is saved in %s.\n", to.Server, path)
		return err
	}
	return cmd
}

// tryKey asks the server for something, to see whether it knows the key. A key
// that may not have it is a good one all the same.
func tryKey(ctx context.Context, to credentials) error {
	_, err := client.New(to.Server, to.Key).EventTypes(ctx)
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Document != nil && errors.Is(p, feedmill.ErrForbidden) {
		return nil
	}
	return err
}

func newLogout() *cobra.Command {
	return &cobra.Command{
		Use:   "logout",
		Short: "Remove the saved server address and key",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := credentialsFile()
			if err != nil {
				return err
			}
			err = os.Remove(path)
			if errors.Is(err, fs.ErrNotExist) {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "You were not logged in.")
				return err
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "Logged out; the key still works until it is revoked.")
			return err
		},
	}
}
