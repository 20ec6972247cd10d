package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newQuery() *cobra.Command {
	cmd := &cobra.Command{
		Use: "query SERVICE VIEW", Short: "Ask a database, or the feeds that there are, and print rows or make a feed of them",
		Long: `Ask a view of a service for rows. Without --field they have all fields; with it they
have those, in order: a name, NAME=ALIAS, or NAME:AGGREGATE with one of sum, avg, min, max,
count and countDistinct, such as total:sum=revenue. A name that has a colon, an equals sign or a
comma in it stands in quotes.

At most 100 rows are printed, and nothing is kept. --create makes a feed of the query, with all
rows or the number in --limit, and --spec prints the query as "feedmill feeds create query" takes it.`,
		Example: `  feedmill query warehouse sales.orders --field status --field total:sum=revenue --filter 'placed_at:last:30 days'
  feedmill query warehouse sales.orders --filter status:eq:paid,open --create Orders --every 1h`,
		Args: needArgs("say which service and which view of it", 2), ValidArgsFunction: completeServiceAndView,
	}
	q := queryFlags{}
	q.add(cmd)
	limit := 20
	cmd.Flags().Var((*limitValue)(&limit), "limit", "maximum number of rows to print, up to 100; with --create or --spec, of rows in the feed (default all)")
	statement := cmd.Flags().Bool("sql", false, "print the statement too, what is bound to it, and where the filters run")
	specOnly := cmd.Flags().Bool("spec", false, "print the query as JSON, and ask nothing")
	watch := watchFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		spec, err := q.spec(ctx, c, args[0], args[1])
		if cmd.Flags().Changed("limit") && (q.feed.Name != "" || *specOnly) {
			spec.Query.Limit = limit
		}
		switch {
		case err != nil:
			return err
		case *specOnly:
			return printJSON(p.out, spec)
		case q.feed.Name == "" && q.isOfFeed():
			return usagef("say with --create what the feed is called that the other flags are about")
		}
		body, err := json.Marshal(spec)
		if err != nil {
			return err
		}
		if q.feed.Name != "" {
			f, err := c.CreateQueryFeed(ctx, client.QueryFeed{Spec: body})
			if err != nil {
				return err
			}
			return p.made(ctx, c, f, *watch)
		}
		preview, err := c.PreviewQuery(ctx, body)
		return shown(p, preview, err, func(p *printer, preview client.QueryPreview) error {
			return p.queryPreview(preview, limit, *statement)
		})
	})
}

// ranWords say where a filter ran.
var ranWords = map[feedmill.RanIn]string{
	feedmill.RanInSource: "runs in the source",
	feedmill.RanInHere:   "runs here, on the rows that came",
	feedmill.RanInBoth:   "runs in the source and again here",
}

// queryPreview prints the first rows of a query.
func (p *printer) queryPreview(q client.QueryPreview, limit int, statement bool) error {
	if statement {
		p.printf("%s\n", q.SQL)
		for i, value := range q.Parameters {
			p.printf("%s\n", fmt.Sprintf("-- %d: %q", i+1, value))
		}
		for _, b := range q.Bounds {
			p.printf("%s\n", fmt.Sprintf("-- %s %s: from %s to before %s", b.Field, b.Op, b.From, b.To))
		}
		for _, f := range q.Filters {
			not := ""
			if f.Inverted {
				not = "not "
			}
			p.printf("%s\n", fmt.Sprintf("-- %s %s%s: %s", f.Field, not, f.Op, ranWords[f.RanIn]))
		}
		p.printf("\n")
	}
	if err := p.previewRows(q.Columns, q.Rows, limit); err != nil {
		return err
	}
	const most = 100
	if n := min(limit, len(q.Rows)); n < len(q.Rows) || n == most {
		fmt.Fprintf(p.notes, "These are the first %d rows; --create makes a feed of all.\n", n)
	}
	return p.warnings(q.Warnings)
}

func newFeedsCreateQuery() *cobra.Command {
	cmd := &cobra.Command{
		Use: "query -f FILE", Short: "Make a feed of a query", Args: cobra.NoArgs,
		Long: `Make a feed of a query, as a file of JSON or YAML says: which view of which service is asked
for what, and when again. Its first refresh begins at once; --watch shows how
far it is and waits for its end. "feedmill query --spec" writes such a file.`,
		Example: `  feedmill query warehouse sales.orders --filter status:eq:paid --every 1h --spec > orders.json
  feedmill feeds create query -f orders.json --watch`,
	}
	file := specFlag(cmd)
	watch := watchFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		spec, err := readSpec(cmd, *file)
		if err != nil {
			return err
		}
		f, err := c.CreateQueryFeed(ctx, client.QueryFeed{Spec: spec})
		if err != nil {
			return err
		}
		return p.made(ctx, c, f, *watch)
	})
}

// queryFlags say what is asked for, and what becomes of it.
type queryFlags struct {
	fields, filters []string
	sort, timezone  string
	feed            querySpec
	every, cron     string
	incremental     string
	lookback        string
}

// addQuery adds those flags that say what is asked for.
func (q *queryFlags) addQuery(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&q.fields, "field", nil, "field that is wanted, such as status, placed_at=day or total:sum=revenue; may be given several times")
	f.StringArrayVar(&q.filters, "filter", nil, "condition such as total:gt:100, status:eq:paid,open, '!name:isNull' or 'placed_at:last:7 days'; may be given several times, and all must hold")
	f.StringVar(&q.sort, "sort", "", "columns to sort by, separated by commas, with - before those that descend")
	f.StringVar(&q.timezone, "timezone", "", "where days begin, such as Europe/Paris; by default UTC")
}

func (q *queryFlags) add(cmd *cobra.Command) {
	q.addQuery(cmd)
	f := cmd.Flags()
	f.StringVar(&q.feed.Name, "create", "", "make a feed of this name")
	f.StringVar(&q.every, "every", "", "how often the feed is refreshed, such as 1h")
	f.StringVar(&q.cron, "cron", "", "when the feed is refreshed, such as '0 6 * * 1-5'")
	f.StringVar(&q.feed.Mode, "mode", "", "replace, append or merge")
	f.StringSliceVar(&q.feed.Key, "key", nil, "columns that rows are merged by, separated by commas")
	f.StringVar(&q.incremental, "incremental", "", "field by which only what is new is fetched")
	f.StringVar(&q.lookback, "lookback", "", "how far before the last value to begin, such as 1h, for what comes late")
	completeFlag(cmd, "mode", completeOf("replace", "append", "merge"))
}

// isOfFeed reports whether something was said that is about a feed.
func (q *queryFlags) isOfFeed() bool {
	return q.every+q.cron+q.incremental+q.lookback+q.feed.Mode != "" || len(q.feed.Key) > 0
}

// querySpec is a query as the service takes it.
type querySpec struct {
	Name        string            `json:"name,omitzero"`
	ServiceName string            `json:"serviceName"`
	ViewName    string            `json:"viewName"`
	Query       queryBody         `json:"query"`
	Schedule    map[string]string `json:"schedule,omitzero"`
	Mode        string            `json:"mode,omitzero"`
	Key         []string          `json:"key,omitzero"`
	Incremental map[string]string `json:"incremental,omitzero"`
}

type queryBody struct {
	Fields   []queryField        `json:"fields"`
	Sort     []map[string]string `json:"sort,omitzero"`
	Limit    int                 `json:"limit,omitzero"`
	Timezone string              `json:"timezone,omitzero"`
}

type queryField struct {
	Field     string           `json:"field"`
	As        string           `json:"as,omitzero"`
	Aggregate []queryAggregate `json:"aggregate,omitzero"`
	Select    *bool            `json:"select,omitzero"`
	Filters   []queryFilter    `json:"filters,omitzero"`
}

type queryAggregate struct {
	Fn string `json:"fn"`
	As string `json:"as,omitzero"`
}

type queryFilter struct {
	Op       feedmill.FilterOp `json:"op"`
	Values   []any             `json:"values,omitzero"`
	Inverted bool              `json:"inverted,omitzero"`
}

// spec is the query that the flags say. Where they name no field, it has those of
// the view.
func (q *queryFlags) spec(ctx context.Context, c *client.Client, service, view string) (querySpec, error) {
	s := q.feed
	s.ServiceName, s.ViewName = service, view
	var err error
	s.Query, err = q.body(func() (names []string, err error) {
		fields, err := c.Fields(ctx, service, view)
		for _, f := range fields {
			names = append(names, f.Name)
		}
		return names, err
	})
	if err != nil {
		return s, err
	}
	s.Schedule = named("every", q.every, "cron", q.cron)
	s.Incremental = named("field", q.incremental, "lookback", q.lookback)
	return s, nil
}

// body is what is asked for. Where the flags name no field, it has those that there are.
func (q *queryFlags) body(all func() ([]string, error)) (queryBody, error) {
	b := queryBody{Timezone: q.timezone}
	for _, text := range q.fields {
		if err := b.addField(text); err != nil {
			return b, usagef("--field %s: %w", text, err)
		}
	}
	if len(q.fields) == 0 {
		names, err := all()
		if err != nil {
			return b, err
		}
		for _, name := range names[:min(len(names), feedmill.MaxQueryFields)] {
			b.Fields = append(b.Fields, queryField{Field: name})
		}
	}
	for _, text := range q.filters {
		if err := b.addFilter(text); err != nil {
			return b, usagef("--filter %s: %w", text, err)
		}
	}
	if q.sort == "" {
		return b, nil
	}
	items, err := feedmill.ParseList(q.sort, "-")
	if err != nil {
		return b, usagef("--sort: %w", err)
	}
	for _, item := range items {
		order := map[bool]string{false: "asc", true: "desc"}[item.Signed]
		b.Sort = append(b.Sort, map[string]string{"field": item.Text, "order": order})
	}
	return b, nil
}

// named are names and values, in turns, without those that are empty; nil where
// there are no others.
func named(all ...string) map[string]string {
	values := make(map[string]string)
	for i := 0; i < len(all); i += 2 {
		if all[i+1] != "" {
			values[all[i]] = all[i+1]
		}
	}
	if len(values) == 0 {
		return nil
	}
	return values
}

// addField adds a field of the form NAME, NAME=ALIAS, or NAME:AGGREGATE=ALIAS.
func (q *queryBody) addField(text string) error {
	name, rest, err := feedmill.ScanItem(text, ":=")
	if err != nil || name.Text == "" {
		return errors.Join(err, errors.New("write it as NAME, NAME=ALIAS or NAME:AGGREGATE=ALIAS"))
	}
	f := queryField{Field: name.Text}
	rest, f.As, _ = strings.Cut(rest, "=")
	if fn, ok := strings.CutPrefix(rest, ":"); ok {
		f.Aggregate, f.As = []queryAggregate{{fn, f.As}}, ""
		for i := range q.Fields {
			if old := &q.Fields[i]; old.Field == f.Field && len(old.Aggregate) > 0 {
				old.Aggregate = append(old.Aggregate, f.Aggregate...)
				return nil
			}
		}
	}
	q.Fields = append(q.Fields, f)
	return nil
}

// addFilter adds a condition on a field, which need not be wanted for itself.
func (q *queryBody) addFilter(text string) error {
	condition, err := feedmill.ParseFilter(text)
	if err != nil {
		return err
	}
	given := condition.Filters[0]
	filter := queryFilter{Op: given.Op, Inverted: given.Inverted}
	for _, v := range given.Values {
		value, err := filterValue(given.Op, v)
		if err != nil {
			return err
		}
		filter.Values = append(filter.Values, value)
	}
	for i := range q.Fields {
		if f := &q.Fields[i]; f.Field == condition.Name {
			f.Filters = append(f.Filters, filter)
			return nil
		}
	}
	q.Fields = append(q.Fields, queryField{Field: condition.Name, Select: new(bool), Filters: []queryFilter{filter}})
	return nil
}

// filterValue is a value as the service takes it. That of last, next, current and
// toDate is a time such as "7 days" or "month".
func filterValue(op feedmill.FilterOp, v feedmill.FilterValue) (any, error) {
	if op.TakesPeriod() {
		p, err := feedmill.ParsePeriod(v.Text)
		return map[string]any{"n": p.N, "unit": p.Unit}, err
	}
	if v.Null {
		return nil, nil
	}
	return v.Text, nil
}
