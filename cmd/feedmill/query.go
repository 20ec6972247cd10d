package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newQuery() *cobra.Command {
	cmd := &cobra.Command{
		Use: "query SERVICE VIEW", Short: "Query a database or feed; print rows or create a feed",
		Long: `Queries a view of a service. --field selects fields, in order; without it, all fields
are returned. A field is NAME, NAME=ALIAS or NAME:AGGREGATE, such as total:sum=revenue.
Aggregates are sum, avg, min, max, count and countDistinct. Quote names that contain a
colon, an equals sign or a comma. --group groups by a period,
and --having selects groups by an aggregate. --compute adds a computed field, which
the other flags can name; without --field, it is also returned.

--join adds the fields of another view of the service, and --left-join keeps rows without a
match. Name a field of a joined view by its alias, such as c.country or c."a.b". Without an
alias, it is the name of the view.

At most 100 rows are printed, and nothing is stored. --create creates a feed from the
query, with all rows or the number in --limit. --spec prints the query as
"feedmill feeds create query" accepts it.`,
		Args: needArgs("specify a service and a view", 2), ValidArgsFunction: completeServiceAndView,
	}
	q := queryFlags{}
	q.add(cmd)
	limit := 20
	cmd.Flags().Var((*limitValue)(&limit), "limit", "maximum number of rows to print, up to 100; with --create or --spec, of rows in the feed (default all)")
	statement := cmd.Flags().Bool("sql", false, "also print the statement, its parameters, and what runs where")
	specOnly := cmd.Flags().Bool("spec", false, "print the query as JSON without running it")
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
			return usagef("specify the name of the feed with --create")
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
	feedmill.RanInHere:   "runs in Feedmill, on the returned rows",
	feedmill.RanInBoth:   "runs in the source and again in Feedmill",
}

// computedWords say where a field was computed.
var computedWords = map[feedmill.RanIn]string{
	feedmill.RanInSource: "runs in the source",
	feedmill.RanInHere:   "runs in Feedmill",
}

// queryPreview prints the first rows of a query.
func (p *printer) queryPreview(q client.QueryPreview, limit int, statement bool) error {
	if statement {
		p.statement(q)
	}
	if err := p.previewRows(q.Columns, q.Rows, limit); err != nil {
		return err
	}
	const most = 100
	if n := min(limit, len(q.Rows)); n < len(q.Rows) || n == most {
		fmt.Fprintf(p.notes, "Only the first %d rows are shown. --create creates a feed with all rows.\n", n)
	}
	return p.warnings(q.Warnings)
}

// statement prints what runs in the source, and what else runs where.
func (p *printer) statement(q client.QueryPreview) {
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
		field := f.Field
		if f.Fn != "" {
			field = f.Fn + "(" + f.Field + ")"
		}
		p.printf("%s\n", fmt.Sprintf("-- %s %s%s: %s", field, not, f.Op, ranWords[f.RanIn]))
	}
	if q.GroupedHere {
		p.printf("-- groups: run in Feedmill, on the returned rows\n")
	}
	for _, c := range q.Computed {
		why := ""
		if c.Reason != "" {
			why = ", because " + c.Reason
		}
		p.printf("%s\n", fmt.Sprintf("-- computed %s: %s%s", c.Name, computedWords[c.RanIn], why))
	}
	p.printf("\n")
}

func newFeedsCreateQuery() *cobra.Command {
	cmd := &cobra.Command{
		Use: "query -f FILE", Short: "Create a feed from a query", Args: cobra.NoArgs,
		Long: `Creates a feed from a query. A JSON or YAML file defines the service, the view, the
query and the schedule; "feedmill query --spec" prints such a file. The first refresh
starts immediately; --watch shows its progress and waits until it ends.`,
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
	groups, having  []string
	joins           []queryFlagJoin
	where           string
	sort, timezone  string
	weekStart       string
	offset          int64
	feed            querySpec
	every, cron     string
	incremental     string
	lookback        string
	computed        []string
}

// addQuery adds those flags that say what is asked for.
func (q *queryFlags) addQuery(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&q.fields, "field", nil, "field such as status, placed_at=day or total:sum=revenue (repeatable)")
	f.StringArrayVar(&q.filters, "filter", nil, "filter such as total:gt:100, status:eq:paid,open, '!name:isNull' or 'placed_at:last:7 days' (repeatable; all must match)")
	f.StringArrayVar(&q.groups, "group", nil, "period and field to group by, such as month:created_at or week:created_at=week (repeatable)")
	f.StringVar(&q.where, "where", "", `condition as JSON, such as '{"any":[{"field":"total","op":"gt","values":[100]},{"field":"vip","op":"isTrue"}]}'`)
	f.StringArrayVar(&q.having, "having", nil, "filter on an aggregate, such as 'sum(amount):gt:1000' (repeatable; all must match)")
	f.StringVar(&q.sort, "sort", "", "columns to sort by, separated by commas; - before a column sorts descending")
	f.Int64Var(&q.offset, "offset", 0, "number of rows to skip; requires --sort")
	f.StringVar(&q.timezone, "timezone", "", "time zone, such as Europe/Paris (default: UTC)")
	f.StringVar(&q.weekStart, "week-start", "", "first day of a week (default: monday)")
}

func (q *queryFlags) add(cmd *cobra.Command) {
	q.addQuery(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&q.computed, "compute", nil, "computed field such as 'margin=price - cost' (repeatable)")
	f.Var(&joinsValue{q, feedmill.JoinInner}, "join", "view to join, such as customers:customer_id=id or 'customers as c:customer_id=id' (repeatable); name its fields c.country")
	f.Var(&joinsValue{q, feedmill.JoinLeft}, "left-join", "view to join that keeps rows without a match (repeatable)")
	f.StringVar(&q.feed.Name, "create", "", "create a feed with this name")
	f.StringVar(&q.every, "every", "", "refresh interval, such as 1h")
	f.StringVar(&q.cron, "cron", "", "refresh schedule (cron), such as '0 6 * * 1-5'")
	f.StringVar(&q.feed.Mode, "mode", "", "replace, append or merge")
	f.StringSliceVar(&q.feed.Key, "key", nil, "key columns for merging, separated by commas")
	f.StringVar(&q.incremental, "incremental", "", "cursor field; each refresh fetches only new rows")
	f.StringVar(&q.lookback, "lookback", "", "overlap before the last cursor, such as 1h, for late rows")
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
	Joins     []queryJoin         `json:"joins,omitzero"`
	Computed  []queryComputed     `json:"computed,omitzero"`
	Fields    []queryField        `json:"fields"`
	Where     json.RawMessage     `json:"where,omitzero"`
	Sort      []map[string]string `json:"sort,omitzero"`
	Limit     int                 `json:"limit,omitzero"`
	Offset    int64               `json:"offset,omitzero"`
	Timezone  string              `json:"timezone,omitzero"`
	WeekStart string              `json:"weekStart,omitzero"`
}

type queryJoin struct {
	View string            `json:"view"`
	As   string            `json:"as"`
	Kind feedmill.JoinKind `json:"kind"`
	On   []queryPair       `json:"on"`
}

type queryPair struct {
	Left  string `json:"left"`
	Right string `json:"right"`
}

type queryField struct {
	Field     string           `json:"field"`
	From      string           `json:"from,omitzero"`
	As        string           `json:"as,omitzero"`
	Group     string           `json:"group,omitzero"`
	Aggregate []queryAggregate `json:"aggregate,omitzero"`
	Select    *bool            `json:"select,omitzero"`
	Filters   []queryFilter    `json:"filters,omitzero"`
	Having    []queryHaving    `json:"having,omitzero"`
}

type queryComputed struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
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

type queryHaving struct {
	Fn feedmill.Aggregate `json:"fn"`
	queryFilter
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
	b := queryBody{Timezone: q.timezone, WeekStart: q.weekStart, Offset: q.offset}
	if q.where != "" {
		if b.Where = json.RawMessage(q.where); !json.Valid(b.Where) {
			return b, usagef("--where must be JSON")
		}
	}
	for _, j := range q.joins {
		if err := b.addJoin(j.kind, j.text); err != nil {
			return b, usagef("--join %s: %w", j.text, err)
		}
	}
	for _, text := range q.computed {
		if err := b.addComputed(text); err != nil {
			return b, usagef("--compute %s: %w", text, err)
		}
	}
	for _, text := range q.groups {
		if err := b.addGroup(text); err != nil {
			return b, usagef("--group %s: %w", text, err)
		}
	}
	for _, text := range q.fields {
		if err := b.addField(text); err != nil {
			return b, usagef("--field %s: %w", text, err)
		}
	}
	if len(q.fields) == 0 && len(q.groups) == 0 {
		names, err := all()
		if err != nil {
			return b, err
		}
		for _, name := range names[:min(len(names), feedmill.MaxQueryFields)] {
			b.Fields = append(b.Fields, queryField{Field: name})
		}
		for _, c := range b.Computed {
			b.Fields = append(b.Fields, queryField{Field: c.Name})
		}
	}
	for _, text := range q.filters {
		if err := b.addFilter(text); err != nil {
			return b, usagef("--filter %s: %w", text, err)
		}
	}
	for _, text := range q.having {
		if err := b.addHaving(text); err != nil {
			return b, usagef("--having %s: %w", text, err)
		}
	}
	if q.sort != "" {
		return b, b.addSort(q.sort)
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
