package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// position is how far the fetches of a query have come.
type position struct {
	// Latest is the greatest value of the field of incremental.
	Latest string `json:"latest,omitempty"`
	// Parent is the version of the feed that was asked, where it was one, and ParentID
	// that feed.
	Parent   int64       `json:"parent,omitempty"`
	ParentID feedmill.ID `json:"parentId,omitempty"`
	// Joined are the versions of the feeds that were joined with it.
	Joined []joinedVersion `json:"joined,omitempty"`
}

// joinedVersion is the version of a feed that was joined.
type joinedVersion struct {
	ID      feedmill.ID `json:"id"`
	Version int64       `json:"version"`
}

// Upstream are the versions of the feeds that a feed at a position was built from, where they
// are known.
func (s Source) Upstream(text []byte) []feedmill.UpstreamVersion {
	var p position
	if json.Unmarshal(text, &p) != nil || p.Parent == 0 {
		return nil
	}
	versions := []feedmill.UpstreamVersion{{ID: p.ParentID, Version: p.Parent}}
	for _, j := range p.Joined {
		versions = append(versions, feedmill.UpstreamVersion(j))
	}
	return versions
}

// Fetch runs the query of a feed.
func (s Source) Fetch(ctx context.Context, f feedmill.Fetch, sink feedmill.FetchSink) (feedmill.Fetched, error) {
	d, err := parseStored(f.Spec, f.Now)
	if err != nil {
		return feedmill.Fetched{}, fmt.Errorf("restore a query: %w", err)
	}
	d.key = nil
	of, err := s.service(ctx, f.Workspace, d.service)
	if errors.Is(err, feedmill.ErrNotFound) {
		return feedmill.Fetched{}, Fail(ProblemUnreachable, "The service "+d.service+" no longer exists. Set another service in the feed, or create a connection of this name.", nil)
	}
	if err != nil {
		return feedmill.Fetched{}, err
	}
	if f.Enough > 0 && (d.query.Limit == 0 || d.query.Limit > f.Enough) {
		d.query.Limit = f.Enough
	}
	var before position
	if len(f.Feeds) > 0 && len(f.Feeds[0].Position) > 0 {
		if err := json.Unmarshal(f.Feeds[0].Position, &before); err != nil {
			return feedmill.Fetched{}, fmt.Errorf("read the position of a query: %w", err)
		}
	}
	origin, err := s.origin(ctx, of)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	_, isAPI := s.api(of.Connector)
	var fetched feedmill.Fetched
	run := func(ctx context.Context, sink feedmill.FetchSink) error {
		return s.withService(ctx, of, f, func(db Database) error {
			fetched, err = d.fetch(ctx, db, isAPI, s.Feeds, f, sink, before, origin)
			return err
		})
	}
	if f.Enough > 0 {
		err = limitPreview(ctx, previewTime, sink, run)
	} else {
		err = run(ctx, sink)
	}
	return fetched, err
}

// counting counts the rows that come, of those that are not wanted to the end, too.
type counting struct {
	feedmill.FetchSink
	rows *int64
}

// Rows takes rows.
func (c counting) Rows(ctx context.Context, run []columnar.Vector) error {
	if len(run) > 0 {
		*c.rows += int64(run[0].Len)
	}
	return c.FetchSink.Rows(ctx, run)
}

// fetch reads what the query asks for, and traces it unless the database traces its requests itself.
func (d *definition) fetch(ctx context.Context, db Database, asksItself bool, feeds Feeds, f feedmill.Fetch, sink feedmill.FetchSink, before position, origin string) (fetched feedmill.Fetched, err error) {
	began := time.Now()
	traced := feedmill.TracedRequest{Method: "SQL", URL: d.service + "/" + d.view, At: now(), Page: 1, Attempt: max(f.Attempt, 1)}
	defer func() {
		traced.DurationMS = float64(time.Since(began).Microseconds()) / 1000
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
			traced.Error = failure.Detail
		}
		if !asksItself {
			f.Trace(traced)
		}
	}()
	var feed feedmill.Feed
	if len(f.Feeds) > 0 {
		feed = f.Feeds[0]
	}
	defer func() { err = d.named(err, feed.Pins) }()
	table, err := d.open(ctx, db, feed.Pins, origin, f.Rules)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	warnings, err := d.resume(ctx, feeds, table, f, before.Latest, asksItself)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	follow, err := d.follow(table, feed, origin)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	warnings = append(warnings, follow.warnings...)
	tree, err := d.resolve(follow.columns)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		return feedmill.Fetched{}, changed(refusal)
	}
	if err != nil {
		return feedmill.Fetched{}, err
	}
	tree.MostNulls = d.mostNulls()
	tree.Open, tree.Infinite = openDecimals(tree, feed, f.Rules), f.Rules < feedmill.RulesCurrent
	explained := ExplainRun(table, tree)
	fetched.Plan = &feedmill.QueryPlan{SQL: explained.SQL, Parameters: explained.Parameters, Bounds: bounds(tree.Bounds), GroupedHere: explained.GroupedHere, Computed: explained.Computed}
	for _, p := range tree.Filters {
		fetched.Plan.Filters = append(fetched.Plan.Filters, feedmill.RanFilter{Field: p.Column.Label(), Fn: p.Column.Of().Aggregate, Op: p.Op, Inverted: p.Inverted, RanIn: explained.Ran(p)})
	}
	done, err := Run(ctx, table, tree, follow.keepNumbers(counting{sink, &traced.Rows}))
	fetched.Warnings = append(warnings, done.Warnings...)
	if err != nil {
		return fetched, lost(err)
	}
	multiplied, err := d.warnMultiplied(ctx, tree)
	if err != nil {
		return fetched, lost(err)
	}
	fetched.Warnings = append(fetched.Warnings, multiplied...)
	if !follow.pins.Equal(feed.Pins) {
		fetched.Pins = &follow.pins
	}
	uncursored, err := d.countNulls(ctx, table, follow.columns)
	if err != nil {
		return fetched, lost(err)
	}
	fetched.Warnings = append(fetched.Warnings, d.cursorWarnings(done, uncursored)...)
	if !asksItself { // an API may send only what is new
		behind, err := d.warnBehind(ctx, table, follow.columns, done)
		if err != nil {
			return fetched, lost(err)
		}
		fetched.Warnings = append(fetched.Warnings, behind...)
	}
	after := position{Latest: done.Latest}
	if after.Latest == "" && d.query.Since != nil {
		after.Latest = d.query.Since.From
	}
	if parent, ok := table.(*feedTable); ok {
		after.Parent, after.ParentID = parent.feeds[0].Version, parent.feeds[0].ID
		for _, f := range parent.feeds[1:] {
			after.Joined = append(after.Joined, joinedVersion{ID: f.ID, Version: f.Version})
		}
	}
	text, err := json.Marshal(after)
	if err != nil {
		return fetched, fmt.Errorf("keep the position of a query: %w", err)
	}
	fetched.Positions = [][]byte{text}
	if d.incremental {
		// What has the greatest value, or is in the time that is looked back on, comes
		// again; what is new is not the same as anything that is there.
		fetched.Again = []feedmill.FetchedAgain{{Kept: feedmill.All, Came: feedmill.All}}
	}
	return fetched, nil
}

// named is a failure that calls the pinned view by the name that the definition has.
func (d *definition) named(err error, pins feedmill.Pins) error {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || pins.Schema == "" {
		return err
	}
	shown := *failure
	shown.Detail = strings.ReplaceAll(failure.Detail, strconv.Quote(QualifiedName(pins.Schema, pins.View)), strconv.Quote(d.view))
	for _, p := range pins.Joins {
		if at := slices.IndexFunc(d.query.Joins, func(j feedmill.Join) bool { return j.As == p.As }); at >= 0 {
			shown.Detail = strings.ReplaceAll(shown.Detail, strconv.Quote(QualifiedName(p.Schema, p.View)), strconv.Quote(d.query.Joins[at].View))
		}
	}
	return &shown
}

// lost marks the failure of a database that could be reached when the query began.
func lost(err error) error {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || failure.Type != ProblemUnreachable {
		return err
	}
	broken := *failure
	broken.Lost = true
	return &broken
}

// changed is the failure of a query that was right for a view as it once was.
func changed(refusal *feedmill.Error) error {
	var details []string
	for _, f := range refusal.Faults {
		details = append(details, f.Detail)
	}
	return Fail(ProblemField, "The query no longer fits the view. "+strings.Join(details, " "), nil)
}

func bounds(all []query.Bound) []feedmill.QueryBounds {
	shown := make([]feedmill.QueryBounds, len(all))
	for i, b := range all {
		shown[i] = feedmill.QueryBounds{Field: b.Field, Op: b.Op, From: b.From, To: b.To}
	}
	return shown
}

// sentence makes a sentence of what is wrong.
func sentence(text string) string {
	if text == "" {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	text = strings.ToUpper(string(first)) + text[size:]
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return text
}
