package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newConnectionsViews() *cobra.Command {
	parent := &cobra.Command{Use: "views", Short: "Manage views that are written in SQL"}
	parent.AddCommand(newSQLViewsDelete(), newSQLViewsList(), newSQLViewsSet(), newSQLViewsShow())
	return parent
}

// oneSQLView makes a command that works on the SQL view it is given.
func oneSQLView(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name + " SERVICE NAME", Short: short, Args: needArgs("specify a connection and the name of a SQL view", 2),
		ValidArgsFunction: completeFirst(completeConnections),
	}
}

// onSQLView makes do the work of a command on the connection and the view that it is given.
func onSQLView(cmd *cobra.Command, do func(ctx context.Context, c *client.Client, id, name string, p *printer) error) *cobra.Command {
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		id, err := connectionID(ctx, c, args[0])
		if err != nil {
			return err
		}
		return do(ctx, c, id, args[1], p)
	})
}

func newSQLViewsList() *cobra.Command {
	cmd := oneConnection("list", "List the SQL views of a connection, newest first")
	limit := limitFlag(cmd)
	return onConnection(cmd, func(ctx context.Context, c *client.Client, id string, p *printer) error {
		return list(p, paged(c, *limit).SQLViews(ctx, id), *limit, []string{"NAME", "SQL", "CHANGED"}, func(v client.SQLView) []cell {
			return texts(v.Name, feedmill.CutText(strings.Join(strings.Fields(v.SQL), " "), 100), moment(v.UpdatedAt))
		})
	})
}

func newSQLViewsShow() *cobra.Command {
	return onSQLView(oneSQLView("show", "Show a SQL view"), func(ctx context.Context, c *client.Client, id, name string, p *printer) error {
		found, err := c.SQLView(ctx, id, name)
		return shown(p, found, err, (*printer).sqlView)
	})
}

func (p *printer) sqlView(v client.SQLView) error {
	var t table
	t.fields("View", v.Name, "Id", v.ID, "Created", moment(v.CreatedAt), "Changed", moment(v.UpdatedAt))
	if err := p.table(t); err != nil {
		return err
	}
	return p.printf("\n%s\n", plain(strings.TrimRight(v.SQL, "\n")))
}

// maxSQLFile is the maximum size of a file of SQL; the server accepts less.
const maxSQLFile = 1 << 20

func newSQLViewsSet() *cobra.Command {
	cmd := oneSQLView("set", "Create a SQL view, or change its SQL")
	cmd.Long = `Writes the SQL of a view, and creates the view if the connection has none of this name. Queries
use it as any other view. The SQL is one statement that reads; the database checks it.`
	sql := cmd.Flags().String("sql", "", "the SQL; use --file instead to read it from a file")
	file := cmd.Flags().StringP("file", "f", "", "file with the SQL, or - for standard input")
	return onSQLView(cmd, func(ctx context.Context, c *client.Client, id, name string, p *printer) error {
		text := *sql
		if (text == "") == (*file == "") {
			return usagef("specify the SQL with either --sql or --file")
		}
		if *file != "" {
			content, err := readSQLFile(cmd, *file)
			if err != nil {
				return err
			}
			text = content
		}
		v, err := c.ChangeSQLView(ctx, id, name, text)
		if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Status == http.StatusNotFound {
			v, err = c.CreateSQLView(ctx, id, client.SQLViewDefinition{Name: name, SQL: text})
		}
		return shown(p, v, err, (*printer).sqlView)
	})
}

func readSQLFile(cmd *cobra.Command, name string) (string, error) {
	from := cmd.InOrStdin()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxSQLFile+1))
	if err == nil && len(text) > maxSQLFile {
		err = usagef("%s has more than %d bytes", name, maxSQLFile)
	}
	return string(text), err
}

func newSQLViewsDelete() *cobra.Command {
	cmd := oneSQLView("delete", "Delete a SQL view that no feed uses")
	return onServer(cmd, confirmed(cmd, "This deletes the SQL view of %s.", func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		id, err := connectionID(ctx, c, args[0])
		if err != nil {
			return err
		}
		if err := c.DeleteSQLView(ctx, id, args[1]); err != nil {
			return err
		}
		return p.say("deleted %s\n", args[1])
	}))
}
