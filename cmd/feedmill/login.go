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
		Short: "Keep the address of a server and a key for it",
		Long: `Asks for an API key, or reads it from standard input where that is no terminal,
tries it on the server, and keeps both in a file that only you can read:
feedmill/credentials.json in the folder for configuration of your account
(XDG_CONFIG_HOME, by default ~/.config, on Linux).

--server wins over FEEDMILL_SERVER, and that over the server of the login;
FEEDMILL_API_KEY wins over the key of the login.`,
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
			return fmt.Errorf("reading the key: %w", err)
		}
		if to.Key == "" {
			return usagef("no key was given")
		}
		if err := tryKey(cmd.Context(), to); err != nil {
			return err
		}
		path, err := to.save()
		if err != nil {
			return err
		}
		if os.Getenv("FEEDMILL_API_KEY") != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "FEEDMILL_API_KEY is set and wins over this login.")
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "Logged in to %s; the key is kept in %s.\n", to.Server, path)
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
		Short: "Forget what login has kept",
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
