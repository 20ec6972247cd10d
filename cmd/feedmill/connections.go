package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newConnections() *cobra.Command {
	parent := &cobra.Command{Use: "connections", Short: "Manage database connections"}
	parent.AddCommand(newConnectionsCreate(), newConnectionsList(), newConnectionsShow(), newConnectionsTest(), newConnectionsUpdate(), newConnectionsDelete(), newConnectionsViews())
	return parent
}

// oneConnection makes a command that works on the connection it is given.
func oneConnection(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name + " SERVICE", Short: short, Args: oneArg("specify a connection by its service name or id"), ValidArgsFunction: completeFirst(completeConnections),
	}
}

var completeConnections = completeNewest((*client.Client).Connections, func(c client.Connection) (name, meaning string) {
	return c.ServiceName, c.Connector
})

// connectionID is the id of the connection that somebody means.
func connectionID(ctx context.Context, c *client.Client, named string) (string, error) {
	if feedmill.IsID(feedmill.PrefixConnection, named) {
		return named, nil
	}
	for found, err := range paged(c, 0).Connections(ctx) {
		if err != nil {
			return "", err
		}
		if found.ServiceName == named {
			return found.ID, nil
		}
	}
	return named, nil // which the service does not know
}

// onConnection makes do the work of a command on the connection that it is given.
func onConnection(cmd *cobra.Command, do func(ctx context.Context, c *client.Client, id string, p *printer) error) *cobra.Command {
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		id, err := connectionID(ctx, c, args[0])
		if err != nil {
			return err
		}
		return do(ctx, c, id, p)
	})
}

const configHelp = "setting as NAME=VALUE, or NAME=@FILE to read it from a file, so that a password is not on the command line (repeatable)"

// connectorHelp lists the settings of each connector, at most six a line.
func connectorHelp() string {
	var help strings.Builder
	for _, c := range feedmill.Connectors {
		var names []string
		for _, s := range c.Settings {
			names = append(names, s.Name)
		}
		title := c.Name
		for part := range slices.Chunk(names, 6) {
			fmt.Fprintf(&help, "  %-10s%s\n", title, strings.Join(part, " "))
			title = ""
		}
	}
	return help.String()
}

func newConnectionsCreate() *cobra.Command {
	cmd := &cobra.Command{
		Use: "create SERVICE CONNECTOR", Short: "Create a database connection and test it",
		Long: "Connects a database. Queries refer to it by SERVICE. The connectors and their settings:\n\n" + connectorHelp() + `
path is a file in a folder that the operator allows.
The connection is saved even if the test fails.`,
		Args: needArgs("specify a service name and a connector", 2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range feedmill.Connectors {
				names = append(names, c.Name)
			}
			if len(args) != 1 {
				names = nil
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	given := cmd.Flags().StringArray("config", nil, configHelp)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		config, err := connectionConfig(args[1], *given)
		if err != nil {
			return err
		}
		made, err := c.CreateConnection(ctx, client.NewConnection{ServiceName: args[0], Connector: args[1], Config: config})
		if err := shown(p, made, err, (*printer).connection); err != nil {
			return err
		}
		return p.tried(ctx, c, made.ID)
	})
}

// connectionConfig reads settings. A setting that is a number is sent as one.
func connectionConfig(connector string, given []string) (map[string]any, error) {
	texts, err := namedValues("--config", given)
	if err != nil {
		return nil, err
	}
	known, _ := feedmill.FindConnector(connector)
	config := make(map[string]any)
	for name, value := range texts {
		config[name] = value
		for _, s := range known.Settings {
			if s.Name == name && s.Integer && json.Valid([]byte(value)) {
				config[name] = json.RawMessage(value)
			}
		}
	}
	return config, nil
}

// errNoAnswer is the outcome of a test that failed; why is printed as the outcome
// of any test is.
var errNoAnswer = errors.New("the connection test failed")

// tried tests a connection and says what came of it. For machines that is left to
// a command of its own.
func (p *printer) tried(ctx context.Context, c *client.Client, id string) error {
	if p.json {
		return nil
	}
	test, err := c.TestConnection(ctx, id)
	if err != nil {
		return err
	}
	p.printf("\n")
	if err := p.connectionTest(test); err != nil || test.OK {
		return err
	}
	return errNoAnswer
}

func (p *printer) connectionTest(test client.ConnectionTest) error {
	var t table
	outcome := cell{text: "works", tone: good}
	if !test.OK {
		outcome = cell{text: "failed", tone: bad}
	}
	t.field("Test", outcome)
	t.fields("Detail", test.Detail, "Took", test.DurationMS.Duration().String())
	return p.table(t)
}

func newConnectionsTest() *cobra.Command {
	cmd := oneConnection("test", "Test a connection")
	return onConnection(cmd, func(ctx context.Context, c *client.Client, id string, p *printer) error {
		test, err := c.TestConnection(ctx, id)
		if err := shown(p, test, err, (*printer).connectionTest); err != nil || test.OK {
			return err
		}
		return errNoAnswer
	})
}

func newConnectionsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List connections, newest first", Args: cobra.NoArgs}
	limit := limitFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		return list(p, paged(c, *limit).Connections(ctx), *limit, []string{"ID", "SERVICE", "CONNECTOR", "CONFIG", "CHANGED"}, func(c client.Connection) []cell {
			return []cell{text(c.ID), text(c.ServiceName), text(c.Connector), text(configText(c.Config)), text(moment(c.UpdatedAt))}
		})
	})
}

// configText is a config on one line, in the order that the service has it.
func configText(config json.RawMessage) string {
	var words []string
	for _, pair := range members(config) {
		words = append(words, pair[0]+"="+pair[1])
	}
	return strings.Join(words, " ")
}

// members are the names and values of an object, in their order.
func members(object json.RawMessage) (pairs [][2]string) {
	d := json.NewDecoder(strings.NewReader(string(object)))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return pairs
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return pairs
		}
		pairs = append(pairs, [2]string{fmt.Sprint(name), fmt.Sprint(value)})
	}
	return pairs
}

func newConnectionsShow() *cobra.Command {
	return onConnection(oneConnection("show", "Show a connection without its secrets"), func(ctx context.Context, c *client.Client, id string, p *printer) error {
		found, err := c.Connection(ctx, id)
		return shown(p, found, err, (*printer).connection)
	})
}

func (p *printer) connection(c client.Connection) error {
	var t table
	t.fields("Connection", c.ID, "Service", c.ServiceName, "Connector", c.Connector)
	for _, pair := range members(c.Config) {
		t.fields(pair[0], pair[1])
	}
	for _, w := range c.Warnings {
		t.fields("Warning", w.Code+": "+w.Detail)
	}
	t.fields("Created", moment(c.CreatedAt), "Changed", moment(c.UpdatedAt))
	return p.table(t)
}

func newConnectionsUpdate() *cobra.Command {
	cmd := oneConnection("update", "Change the settings of a connection and test it")
	given := cmd.Flags().StringArray("config", nil, configHelp)
	unset := cmd.Flags().StringArray("unset", nil, "setting to remove (repeatable)")
	name := cmd.Flags().String("name", "", "new service name; only while no feed uses the connection")
	return onConnection(cmd, func(ctx context.Context, c *client.Client, id string, p *printer) error {
		before, err := c.Connection(ctx, id)
		if err != nil {
			return err
		}
		config, err := connectionConfig(before.Connector, *given)
		if err != nil {
			return err
		}
		for _, name := range *unset {
			config[name] = nil
		}
		change := client.ConnectionChange{ServiceName: *name}
		if len(config) > 0 {
			change.Config = config
		} else if *name == "" {
			return usagef("specify a change with --config, --unset or --name")
		}
		changed, err := c.ChangeConnection(ctx, id, change)
		if err := shown(p, changed, err, (*printer).connection); err != nil {
			return err
		}
		return p.tried(ctx, c, changed.ID)
	})
}

func newConnectionsDelete() *cobra.Command {
	cmd := oneConnection("delete", "Delete a connection that no feed uses")
	return onServer(cmd, confirmed(cmd, "This deletes connection %s.", func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		id, err := connectionID(ctx, c, args[0])
		if err != nil {
			return err
		}
		if err := c.DeleteConnection(ctx, id); err != nil {
			return err
		}
		return p.say("deleted %s\n", id)
	}))
}
