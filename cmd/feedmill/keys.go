package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/app"
	"github.com/feedmill/feedmill/internal/config"
)

func newKeys() *cobra.Command {
	parent := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Works on a running server: the one in --server or FEEDMILL_SERVER, with the key in
FEEDMILL_API_KEY, or the one that you are logged in to.

Without a server, or with a configuration flag such as --data, it works directly on
the store, as an admin of the workspace "default". Stop the server that uses the same
data folder first.`,
	}

	create := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a key and print it once",
		Args:  oneArg("specify a name for the key"),
	}
	scopes := create.Flags().StringSlice("scopes", []string{"api:read"}, "scopes: api:read, api:write, events:publish, admin")
	workspace := create.Flags().String("workspace", "", "workspace id (default: the workspace of your key)")
	expires := expiryFlag(create)
	onServerOrStore(create, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		k, err := c.CreateKey(ctx, client.NewKey{Name: args[0], Scopes: *scopes, WorkspaceID: *workspace, ExpiresAt: *expires})
		return shown(p, k, err, func(p *printer, k client.Key) error {
			return p.printf("%s  %s\n\n  %s\n\nCopy the key now; it is not shown again.\n", k.ID, plain(k.Name), k.Secret)
		})
	})

	all := &cobra.Command{Use: "list", Short: "List the keys of a workspace", Args: cobra.NoArgs}
	listed := all.Flags().String("workspace", "", "workspace id (default: the workspace of your key)")
	revoked := all.Flags().Bool("revoked", false, "include revoked keys")
	onServerOrStore(all, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		keys := paged(c, 0).KeysOf(ctx, client.KeyQuery{WorkspaceID: *listed, Revoked: *revoked})
		header := []string{"ID", "NAME", "SCOPES", "WORKSPACE", "CREATED", "LAST USED", "EXPIRES"}
		if *revoked {
			header = append(header, "REVOKED")
		}
		return list(p, keys, 0, header, func(k client.Key) []cell {
			row := texts(k.ID, k.Name, strings.Join(k.Scopes, ","), k.WorkspaceID, moment(k.CreatedAt), moment(k.LastUsedAt), moment(k.ExpiresAt))
			if *revoked {
				row = append(row, text(moment(k.RevokedAt)))
			}
			return row
		})
	})

	revoke := &cobra.Command{Use: "revoke ID", Short: "Revoke a key", Args: oneArg("specify a key id")}
	onServerOrStore(revoke, confirmed(revoke, "This revokes key %s; programs that use it lose access.", func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if err := c.RevokeKey(ctx, args[0]); err != nil {
			return err
		}
		return p.say("revoked %s\n", args[0])
	}))
	parent.AddCommand(create, all, revoke)
	return parent
}

// oneArg wants one argument, and says what is missing where there is none.
func oneArg(missing string) cobra.PositionalArgs { return needArgs(missing, 1) }

// needArgs wants as many arguments, and says what is missing where there are fewer.
func needArgs(missing string, n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return fmt.Errorf("%s: %s %s", missing, cmd.Parent().CommandPath(), cmd.Use)
		}
		return cobra.ExactArgs(n)(cmd, args)
	}
}

// onServerOrStore is onServer for a command that works without a server too,
// on the stores that the configuration names.
func onServerOrStore(cmd *cobra.Command, do work) {
	onServer(cmd, do)
	remote, load := cmd.RunE, settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		named, err := namesServer(cmd)
		if err != nil {
			return err
		}
		if named {
			return remote(cmd, args)
		}
		c, err := load()
		if err != nil {
			return err
		}
		a, err := app.OpenExisting(cmd.Context(), c, slog.New(slog.DiscardHandler))
		if errors.Is(err, app.ErrInUse) {
			return fmt.Errorf("%w\nor use a running server: set FEEDMILL_API_KEY and --server", err)
		}
		if err != nil {
			return err
		}
		defer a.Close()
		handler, err := a.Handler(cmd.Context())
		if err != nil {
			return err
		}
		direct := client.New("http://feedmill", "")
		direct.HTTP.Transport = client.InProcess{Handler: handler}
		return do(cmd.Context(), direct, args, newPrinter(cmd, direct))
	}
}

// namesServer reports whether the user has named a server, rather than stores:
// a login counts for less than a flag that is about the stores.
func namesServer(cmd *cobra.Command) (bool, error) {
	if cmd.Flags().Changed("server") || cmd.Flags().Changed("profile") || os.Getenv("FEEDMILL_SERVER") != "" || os.Getenv("FEEDMILL_API_KEY") != "" {
		return true, nil
	}
	if cmd.Flags().Changed("config") {
		return false, nil
	}
	for _, s := range config.Settings {
		if cmd.Flags().Changed(s.Flag()) {
			return false, nil
		}
	}
	all, err := loadLogins()
	return all.of(os.Getenv("FEEDMILL_PROFILE")).Server != "", err
}
