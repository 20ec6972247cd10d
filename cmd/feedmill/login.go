package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
FEEDMILL_API_KEY overrides the saved key.

Save logins to several servers as profiles: with --profile staging here, other commands
use that login with --profile staging or FEEDMILL_PROFILE=staging. --profile overrides
FEEDMILL_SERVER and FEEDMILL_API_KEY.`,
		Args: cobra.NoArgs,
	}
	at := serverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		profile := cmp.Or(at.profile, os.Getenv("FEEDMILL_PROFILE"))
		if profile != "" && !profileName.MatchString(profile) {
			return usagef("--profile must have 1 to 64 letters, digits, dots, hyphens and underscores, and start with a letter or digit")
		}
		// A new login replaces a file that cannot be read.
		all, _ := loadLogins()
		to := credentials{Server: defaultServer}
		for _, named := range []string{all.of(profile).Server, os.Getenv("FEEDMILL_SERVER"), at.server} {
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
		all.set(profile, to)
		path, err := all.save()
		if err != nil {
			return err
		}
		if os.Getenv("FEEDMILL_API_KEY") != "" && at.profile == "" {
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
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Remove a saved server address and key",
		Args:  cobra.NoArgs,
	}
	named := profileFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		all, err := loadLogins()
		if err != nil {
			return err
		}
		profile := cmp.Or(*named, os.Getenv("FEEDMILL_PROFILE"))
		if all.of(profile).Server == "" {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "You were not logged in.")
			return err
		}
		all.set(profile, credentials{})
		if _, err := all.save(); err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "Logged out; the key still works until it is revoked.")
		return err
	}
	return cmd
}

func newProfiles() *cobra.Command {
	cmd := &cobra.Command{Use: "profiles", Short: "List the saved logins", Args: cobra.NoArgs}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		all, err := loadLogins()
		if err != nil {
			return err
		}
		t := table{header: []string{"PROFILE", "SERVER"}}
		for _, name := range all.names() {
			t.add(texts(name, all.of(name).Server)...)
		}
		p := &printer{out: cmd.OutOrStdout()}
		return p.table(t)
	}
	return cmd
}
