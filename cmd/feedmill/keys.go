package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/app"
)

func newKeys() *cobra.Command {
	parent := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke API keys",
		Long: `Works on a running server with --server (or FEEDMILL_SERVER) and the key in
FEEDMILL_API_KEY, or, with neither, directly on the stores that the
configuration names (as an admin of the workspace "default", while no server
runs on the same data folder).`,
	}
	onlyHelps(parent)
	asJSON := parent.PersistentFlags().Bool("json", false, "print JSON")

	create := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a key and print it, once",
		Args:  oneArg("the key needs a name"),
	}
	scopes := create.Flags().StringSlice("scopes", []string{"api:read"}, "scopes: api:read, api:write, events:publish, admin")
	workspace := create.Flags().String("workspace", "", "id of the workspace; your own by default")
	withClient(create, func(ctx context.Context, c *client.Client, args []string, out io.Writer) error {
		k, err := c.CreateKey(ctx, client.NewKey{Name: args[0], Scopes: *scopes, WorkspaceID: *workspace})
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(out, k)
		}
		_, err = fmt.Fprintf(out, "%s  %s\n\n  %s\n\nThis is the only time that the key is shown.\n", k.ID, k.Name, k.Secret)
		return err
	})

	list := &cobra.Command{Use: "list", Short: "List the keys of a workspace that are not revoked", Args: cobra.NoArgs}
	listed := list.Flags().String("workspace", "", "id of the workspace; your own by default")
	withClient(list, func(ctx context.Context, c *client.Client, _ []string, out io.Writer) error {
		keys := []client.Key{}
		found := c.Keys(ctx)
		if *listed != "" {
			found = c.KeysOf(ctx, *listed)
		}
		for k, err := range found {
			if err != nil {
				return err
			}
			keys = append(keys, k)
		}
		if *asJSON {
			return printJSON(out, keys)
		}
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tSCOPES\tWORKSPACE\tCREATED\tLAST USED")
		for _, k := range keys {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, strings.Join(k.Scopes, ","), k.WorkspaceID, moment(k.CreatedAt), moment(k.LastUsedAt))
		}
		return w.Flush()
	})

	revoke := &cobra.Command{Use: "revoke ID", Short: "Revoke a key", Args: oneArg("say which key")}
	withClient(revoke, func(ctx context.Context, c *client.Client, args []string, out io.Writer) error {
		if err := c.RevokeKey(ctx, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, "revoked", args[0])
		return err
	})
	parent.AddCommand(create, list, revoke)
	return parent
}

// oneArg wants one argument, and says what is missing where there is none.
func oneArg(missing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: %s %s", missing, cmd.Parent().CommandPath(), cmd.Use)
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
}

// remote is a client for the server at the address.
func remote(server, key string) (*client.Client, error) {
	if u, err := url.Parse(server); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("--server or FEEDMILL_SERVER: write the address with its scheme, such as http://127.0.0.1:8080")
	}
	if key == "" {
		return nil, errors.New("the server wants a key: set FEEDMILL_API_KEY")
	}
	return client.New(server, key), nil
}

// withClient makes do the work of cmd, with a client for the server that the
// user names, or else for the stores that the configuration names.
func withClient(cmd *cobra.Command, do func(ctx context.Context, c *client.Client, args []string, out io.Writer) error) {
	server := cmd.Flags().String("server", os.Getenv("FEEDMILL_SERVER"), "address of a running server, such as http://127.0.0.1:8080; FEEDMILL_SERVER in the environment")
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		if key := os.Getenv("FEEDMILL_API_KEY"); *server != "" || key != "" {
			if *server == "" {
				*server = "http://127.0.0.1:8080"
			}
			c, err := remote(*server, key)
			if err != nil {
				return err
			}
			return do(ctx, c, args, cmd.OutOrStdout())
		}
		c, err := load()
		if err != nil {
			return err
		}
		a, err := app.OpenExisting(ctx, c, slog.New(slog.DiscardHandler))
		if errors.Is(err, app.ErrInUse) {
			return fmt.Errorf("%w\nor work on a running server: set FEEDMILL_API_KEY and --server", err)
		}
		if err != nil {
			return err
		}
		defer a.Close()
		direct := client.New("http://feedmill", "")
		if direct.HTTP.Transport, err = a.Transport(ctx); err != nil {
			return err
		}
		return do(ctx, direct, args, cmd.OutOrStdout())
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format(time.DateTime)
}
