package main

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

var completeServices = completeFrom(func(ctx context.Context, c *client.Client, found func(word, meaning string)) error {
	services, err := c.Services(ctx)
	for _, s := range services {
		found(s.ServiceName, s.Title)
	}
	return err
})

// completeServiceAndView completes the name of a service, and then of a view of it.
func completeServiceAndView(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return completeServices(cmd, args, begun)
	case 1:
		views := func(c *client.Client, ctx context.Context) iter.Seq2[client.View, error] {
			return c.Views(ctx, args[0], client.ViewQuery{Text: begun})
		}
		return completeNewest(views, func(v client.View) (name, meaning string) { return v.Name, v.Label })(cmd, args, begun)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func newServicesList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List services", Args: cobra.NoArgs}
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		services, err := c.Services(ctx)
		return shown(p, services, err, func(p *printer, services []client.Service) error {
			t := table{header: []string{"SERVICE", "TITLE", "CONNECTOR", "STATUS"}}
			for _, s := range services {
				t.add(texts(s.ServiceName, s.Title, s.Connector, string(s.Status))...)
			}
			return p.table(t)
		})
	})
}

func newServicesViews() *cobra.Command {
	cmd := &cobra.Command{
		Use: "views SERVICE", Short: "List the tables and views of a service", Args: oneArg("specify a service"),
		ValidArgsFunction: completeFirst(completeServices),
	}
	limit := limitFlag(cmd)
	search := cmd.Flags().String("search", "", "text to find in names, labels, descriptions and fields")
	refresh := cmd.Flags().Bool("refresh", false, "ignore the cached result")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		views := paged(c, *limit).Views(ctx, args[0], client.ViewQuery{Text: *search, Refresh: *refresh})
		return list(p, views, *limit, []string{"VIEW", "KIND", "ROWS", "LABEL"}, func(v client.View) []cell {
			rows := "-"
			if v.RowEstimate != nil {
				rows = "about " + strconv.FormatInt(*v.RowEstimate, 10)
			}
			return texts(v.Name, v.Kind, rows, v.Label)
		})
	})
}

func newServicesFields() *cobra.Command {
	cmd := &cobra.Command{
		Use: "fields SERVICE VIEW", Short: "List the fields of a view and their operators", Args: needArgs("specify a service and a view", 2),
		ValidArgsFunction: completeServiceAndView,
	}
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		fields, err := c.Fields(ctx, args[0], args[1])
		return shown(p, fields, err, func(p *printer, fields []client.ViewField) error {
			t := table{header: []string{"FIELD", "TYPE", "NULLS", "KEY", "SAMPLES", "LABEL", "OPERATORS"}}
			for _, f := range fields {
				nulls := "no"
				if f.Nullable {
					nulls = "yes"
				}
				t.add(texts(f.Name, f.Type, nulls, keyOf(f), samplesOf(f), f.Label, strings.Join(f.Operators, " "))...)
			}
			return p.table(t)
		})
	})
}

// keyOf says which keys a field is part of.
func keyOf(f client.ViewField) string {
	var parts []string
	if f.PrimaryKey {
		parts = append(parts, "primary")
	}
	if r := f.References; r != nil {
		parts = append(parts, "-> "+r.View+"."+r.Field)
	}
	return strings.Join(parts, " ")
}

// samplesOf is a few values of a field on one line.
func samplesOf(f client.ViewField) string {
	var values []string
	for _, v := range f.Samples {
		values = append(values, shownValue(v))
	}
	return strings.Join(values, ", ")
}

func newServicesValues() *cobra.Command {
	cmd := &cobra.Command{
		Use: "values SERVICE VIEW FIELD", Short: "List the distinct values of a field", Args: needArgs("specify a service, a view and a field", 3),
		ValidArgsFunction: completeServiceAndView,
	}
	limit := cmd.Flags().Int("limit", 0, "maximum number of values, 1 to 500 (default 50)")
	search := cmd.Flags().String("search", "", "only values that contain this text; case is ignored")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		values, err := c.FieldValues(ctx, args[0], args[1], args[2], *search, *limit)
		return shown(p, values, err, func(p *printer, values []json.RawMessage) error {
			t := table{header: []string{"VALUE"}}
			for _, v := range values {
				t.add(text(shownValue(v)))
			}
			return p.table(t)
		})
	})
}
