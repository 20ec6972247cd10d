package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/config"
)

func newWorkspaces() *cobra.Command {
	parent := &cobra.Command{
		Use:   "workspaces",
		Short: "Manage workspaces and their quotas",
		Long: `A workspace is a tenant. Only admins of the workspace "default" can create, change and
delete workspaces. Works on a running server, or directly on the store as 'feedmill keys' does.`,
	}
	parent.AddCommand(newWorkspacesCreate(), newWorkspacesList(), newWorkspacesShow(), newWorkspacesUpdate(), newWorkspacesDelete(), newWorkspacesPortal())
	return parent
}

// oneWorkspace returns a command that works on the workspace that it is given.
func oneWorkspace(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name + " WORKSPACE", Short: short, Args: oneArg("specify a workspace by its name or id"), ValidArgsFunction: completeFirst(completeWorkspaces),
	}
}

var completeWorkspaces = completeNewest((*client.Client).Workspaces, func(w client.Workspace) (name, meaning string) { return w.Name, w.ID })

// findWorkspace returns the workspace with a name or an id.
func findWorkspace(ctx context.Context, c *client.Client, named string) (client.Workspace, error) {
	if feedmill.IsID(feedmill.PrefixWorkspace, named) {
		return c.Workspace(ctx, named)
	}
	for w, err := range paged(c, 0).Workspaces(ctx) {
		if err != nil || w.Name == named {
			return w, err
		}
	}
	return client.Workspace{}, fmt.Errorf("no workspace is called %q; 'feedmill workspaces list' lists them", named)
}

// workspaceFlags returns the members that the flags of a command set.
func workspaceFlags(cmd *cobra.Command) func() (client.WorkspaceChange, error) {
	flags := cmd.Flags()
	external := flags.String("external-id", "", "id of the workspace in your own system; empty removes it")
	metadata := flags.String("metadata", "", "JSON object to keep with the workspace; it replaces the previous one")
	quotas := map[string]*string{
		"storedBytes":       flags.String("stored-bytes", "", "maximum disk space, such as 10GiB; default for the server's default"),
		"subscriptions":     flags.String("subscriptions", "", "maximum number of subscriptions; default for the server's default"),
		"concurrentUploads": flags.String("concurrent-uploads", "", "maximum number of concurrent uploads; default for the server's default"),
		"concurrentQueries": flags.String("concurrent-queries", "", "maximum number of concurrent queries; default for the server's default"),
	}
	return func() (client.WorkspaceChange, error) {
		change := make(client.WorkspaceChange)
		if flags.Changed("external-id") {
			change["externalId"] = *external
			if *external == "" {
				change["externalId"] = nil
			}
		}
		if flags.Changed("metadata") {
			if !json.Valid([]byte(*metadata)) {
				return nil, usagef("--metadata must be a JSON object, such as '{\"plan\":\"business\"}'")
			}
			change["metadata"] = json.RawMessage(*metadata)
		}
		set := make(map[string]any)
		for name, text := range quotas {
			switch {
			case *text == "":
			case *text == "default":
				set[name] = nil
			case name == "storedBytes":
				n, err := config.ParseBytes(*text)
				if err != nil {
					return nil, usagef("--stored-bytes %v", err)
				}
				set[name] = int64(n)
			default:
				n, err := strconv.Atoi(*text)
				if err != nil {
					return nil, usagef("a quota must be a number or the word default; got %q", *text)
				}
				set[name] = n
			}
		}
		if len(set) > 0 {
			change["quotas"] = set
		}
		return change, nil
	}
}

func newWorkspacesCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create NAME", Short: "Create a workspace", Args: oneArg("specify a name for the workspace")}
	members := workspaceFlags(cmd)
	onServerOrStore(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		change, err := members()
		if err != nil {
			return err
		}
		change["name"] = args[0]
		w, err := c.NewWorkspace(ctx, change)
		return shown(p, w, err, (*printer).workspace)
	})
	return cmd
}

func newWorkspacesList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List workspaces and their usage", Args: cobra.NoArgs}
	onServerOrStore(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		header := []string{"ID", "NAME", "EXTERNAL ID", "FEEDS", "SUBSCRIPTIONS", "STORED", "LAST REQUEST"}
		return list(p, paged(c, 0).Workspaces(ctx), 0, header, func(w client.Workspace) []cell {
			last := moment(w.LastRequestAt)
			if w.Deleting != nil {
				last = deletionText(*w.Deleting)
			}
			return texts(w.ID, w.Name, w.ExternalID, strconv.FormatInt(w.Usage.Feeds, 10), strconv.FormatInt(w.Usage.Subscriptions, 10), bytesText(w.Usage.StoredBytes), last)
		})
	})
	return cmd
}

func newWorkspacesShow() *cobra.Command {
	cmd := oneWorkspace("show", "Show a workspace")
	onServerOrStore(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		w, err := findWorkspace(ctx, c, args[0])
		return shown(p, w, err, (*printer).workspace)
	})
	return cmd
}

func newWorkspacesUpdate() *cobra.Command {
	cmd := oneWorkspace("update", "Change a workspace or its quotas")
	members := workspaceFlags(cmd)
	name := cmd.Flags().String("name", "", "new name")
	onServerOrStore(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		change, err := members()
		if err != nil {
			return err
		}
		if *name != "" {
			change["name"] = *name
		}
		if len(change) == 0 {
			return usagef("nothing to change; set at least one flag")
		}
		w, err := findWorkspace(ctx, c, args[0])
		if err != nil {
			return err
		}
		w, err = c.ChangeWorkspace(ctx, w.ID, change)
		return shown(p, w, err, (*printer).workspace)
	})
	return cmd
}

func newWorkspacesDelete() *cobra.Command {
	cmd := oneWorkspace("delete", "Delete a workspace and everything in it")
	const question = "This deletes workspace %s with all its feeds, subscriptions, keys and files."
	onServerOrStore(cmd, confirmed(cmd, question, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		w, err := findWorkspace(ctx, c, args[0])
		if err != nil {
			return err
		}
		if w, err = c.DeleteWorkspace(ctx, w.ID, w.Name); err != nil {
			return err
		}
		return p.say("deleting %s; the server removes its records and files in the background\n", w.ID)
	}))
	return cmd
}

func deletionText(d client.WorkspaceDeletion) string {
	return fmt.Sprintf("deleting, %d of %d", d.Done, d.Total)
}

// workspace prints a workspace.
func (p *printer) workspace(w client.Workspace) error {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%-20s%s\n", name, value) }
	of := func(name string, used int64, quota *int64, text func(int64) string) {
		value := text(used)
		if quota != nil {
			value += " of " + text(*quota)
		}
		line(name, value)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	wide := func(n *int) *int64 {
		if n == nil {
			return nil
		}
		return new(int64(*n))
	}
	line("id", w.ID)
	line("name", plain(w.Name))
	if w.ExternalID != "" {
		line("external id", plain(w.ExternalID))
	}
	if len(w.Metadata) > 0 {
		text, err := json.Marshal(w.Metadata)
		if err != nil {
			return err
		}
		line("metadata", plain(string(text)))
	}
	of("stored", w.Usage.StoredBytes, w.Quotas.StoredBytes, bytesText)
	of("feeds", w.Usage.Feeds, nil, number)
	of("subscriptions", w.Usage.Subscriptions, wide(w.Quotas.Subscriptions), number)
	of("concurrent uploads", int64(w.Usage.ConcurrentUploads), wide(w.Quotas.ConcurrentUploads), number)
	of("concurrent queries", int64(w.Usage.ConcurrentQueries), wide(w.Quotas.ConcurrentQueries), number)
	of("events in 24 h", w.Usage.EventsPerDay, nil, number)
	line("created", moment(w.CreatedAt))
	line("last request", moment(w.LastRequestAt))
	if w.Deleting != nil {
		line("state", deletionText(*w.Deleting))
	}
	return p.printf("%s", b.String())
}
