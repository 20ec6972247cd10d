package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// What is shown of texts that users wrote.
const (
	shownName        = 80
	shownDescription = 2000
	shownDetail      = 1000
	shownWarnings    = 20
	// maxSearch is the maximum number of feeds that a search returns.
	maxSearch = 100
)

// feedLine is a feed in a list.
type feedLine struct {
	ID    string             `json:"id"`
	Name  string             `json:"name"`
	Type  feedmill.FeedType  `json:"type"`
	State feedmill.FeedState `json:"state"`
	Rows  int64              `json:"rows"`
}

// searchFeeds lists feeds.
func searchFeeds(ctx context.Context, a *api, args *arguments) (result, error) {
	text, sort := args.text("text"), args.text("sort")
	state := args.text("state")
	_, cursor := args.cursor()
	limit := args.limit(defaultRows, maxSearch)
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	values := pageValues(cursor)
	for name, value := range map[string]string{"q": text, "state": state, "sort": sort} {
		if value != "" {
			values.Set(name, value)
		}
	}
	values.Set("counts", "state")
	found, err := a.list(ctx, func(limit int) (call, error) {
		values.Set("limit", strconv.Itoa(limit))
		return call{method: http.MethodGet, path: "/data_feeds", query: values}, nil
	}, limit, searchBytes, func(record []byte) ([]byte, error) {
		var f client.DataFeed
		if err := json.Unmarshal(record, &f); err != nil {
			return nil, err
		}
		return toJSON(feedLine{f.ID, cut(f.Name, shownName), f.Type, f.State, f.RowCount}), nil
	})
	if err != nil {
		return result{}, err
	}
	return result{lines: found.lines, summary: struct {
		Shown      int    `json:"shown"`
		Total      int64  `json:"total"`
		States     string `json:"states,omitempty"`
		NextCursor string `json:"nextCursor,omitempty"`
	}{len(found.lines), found.total, found.counts, cursorOf(0, found.next)}}, nil
}

// feedSummary is what Feedmill knows about a feed.
type feedSummary struct {
	ID            string             `json:"id"`
	Type          feedmill.FeedType  `json:"type"`
	State         feedmill.FeedState `json:"state"`
	Stale         bool               `json:"stale,omitzero"`
	PausedReason  string             `json:"pausedReason,omitzero"`
	Version       int64              `json:"version"`
	Rows          int64              `json:"rows"`
	Mode          feedmill.FeedMode  `json:"mode"`
	Schedule      *client.Schedule   `json:"schedule,omitzero"`
	LastSuccessAt *time.Time         `json:"lastSuccessAt,omitzero"`
	NextRefreshAt *time.Time         `json:"nextRefreshAt,omitzero"`
	Failures      int                `json:"failures,omitzero"`
	LastErrorType string             `json:"lastErrorType,omitzero"`
	Columns       int                `json:"columns"`
	NextCursor    string             `json:"nextCursor,omitempty"`
	NextStep      string             `json:"nextStep,omitempty"`
}

// feedTexts are the texts about a feed that users and sources wrote.
type feedTexts struct {
	Name        string        `json:"name"`
	Description string        `json:"description,omitzero"`
	Table       string        `json:"tableName,omitzero"`
	Source      string        `json:"source,omitzero"`
	Key         []string      `json:"key,omitempty"`
	Warnings    []warningLine `json:"warnings,omitempty"`
}

// warningLine is a warning in short.
type warningLine struct {
	Code   string `json:"code"`
	Column string `json:"column,omitzero"`
	Count  int64  `json:"count"`
	Detail string `json:"detail"`
}

func warningLines(all []feedmill.Warning) (lines []warningLine) {
	for _, w := range all[:min(len(all), shownWarnings)] {
		lines = append(lines, warningLine{w.Code, cut(w.Column, shownName), w.Count, cut(w.Detail, shownDetail)})
	}
	return lines
}

// describeFeed returns what is known about a feed, and its columns.
func describeFeed(ctx context.Context, a *api, args *arguments) (result, error) {
	feed := args.id("feed", "search_feeds")
	version, cursor := args.cursor()
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	f, err := record[struct {
		client.DataFeed
		Columns []json.RawMessage `json:"columns"`
	}](ctx, a, call{method: http.MethodGet, path: feedPath(feed)})
	if err != nil {
		return result{}, err
	}
	if cursor != "" && version != f.Version {
		return result{}, fmt.Errorf("the feed has version %d now, and the cursor is for version %d; start again without cursor", f.Version, version)
	}
	s := feedSummary{
		ID: f.ID, Type: f.Type, State: f.State, Stale: f.Stale, PausedReason: f.PausedReason, Version: f.Version, Rows: f.RowCount, Mode: f.Mode,
		Schedule: f.Schedule, LastSuccessAt: atTime(f.LastSuccessAt), NextRefreshAt: atTime(f.NextRefreshAt), Failures: f.Failures, Columns: len(f.Columns),
	}
	if f.LastError != nil {
		s.LastErrorType = f.LastError.Type
		s.NextStep = "The last refresh failed. Call explain_refresh."
	}
	lines := make([][]byte, 0, len(f.Columns))
	for _, column := range f.Columns {
		lines = append(lines, shortColumn(column))
	}
	if lines, s.NextCursor, err = part(lines, f.Version, cursor); err != nil {
		return result{}, err
	}
	if cursor == "" {
		key := make([]string, 0, len(f.Key))
		for _, name := range f.Key {
			key = append(key, cut(name, shownName))
		}
		texts := feedTexts{cut(f.Name, shownName), cut(f.Description, shownDescription), f.TableName, cut(f.SourceLabel, shownDetail), key, warningLines(f.Warnings)}
		lines = append([][]byte{toJSON(map[string]feedTexts{"feed": texts})}, lines...)
	}
	return result{summary: s, lines: lines}, nil
}

// columnLine is a column in short.
type columnLine struct {
	Column      string `json:"column"`
	Type        string `json:"type"`
	Nullable    *bool  `json:"nullable,omitzero"`
	Hidden      bool   `json:"hidden,omitzero"`
	Description string `json:"description,omitzero"`
}

func shortColumn(text json.RawMessage) []byte {
	var c struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Nullable    *bool  `json:"nullable"`
		Hidden      bool   `json:"hidden"`
		Description string `json:"description"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return text
	}
	return toJSON(columnLine{c.Name, c.Type, c.Nullable, c.Hidden, cut(c.Description, shownDetail)})
}

// profileFeed returns what the values of each column are like.
func profileFeed(ctx context.Context, a *api, args *arguments) (result, error) {
	feed := args.id("feed", "search_feeds")
	version, cursor := args.pinned("version")
	var filters []string
	if args.Has("filter") {
		for _, text := range args.Texts("filter", maxRows) {
			filters = append(filters, text)
		}
	}
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	values := pageValues("")
	values["filter"] = filters
	if version > 0 {
		values.Set("version", strconv.FormatInt(version, 10))
	}
	p, err := record[struct {
		Version  int64             `json:"version"`
		RowCount int64             `json:"rowCount"`
		Columns  []json.RawMessage `json:"columns"`
	}](ctx, a, call{method: http.MethodGet, path: feedPath(feed) + "/profile", query: values})
	if err != nil {
		return result{}, err
	}
	lines := make([][]byte, len(p.Columns))
	for i, column := range p.Columns {
		if lines[i], err = shortProfile(column); err != nil {
			return result{}, err
		}
	}
	lines, next, err := part(lines, p.Version, cursor)
	if err != nil {
		return result{}, err
	}
	return result{lines: lines, summary: struct {
		Feed       string `json:"feed"`
		Version    int64  `json:"version"`
		Rows       int64  `json:"rows"`
		Columns    int    `json:"columns"`
		NextCursor string `json:"nextCursor,omitempty"`
	}{feed, p.Version, p.RowCount, len(p.Columns), next}}, nil
}

// maxProfile is the maximum size of the profile of one column.
const maxProfile = 4 << 10

// shortProfile is the profile of a column. It leaves out the values of a column whose values are long.
func shortProfile(text json.RawMessage) ([]byte, error) {
	line, err := compact(text)
	if err != nil || len(line) <= maxProfile {
		return line, err
	}
	var p client.ColumnProfile
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return toJSON(struct {
		Name      string `json:"name"`
		Type      string `json:"type"`
		Nulls     int64  `json:"nulls"`
		Distinct  int64  `json:"distinct"`
		MaxLength *int64 `json:"maxLength"`
		Note      string `json:"note"`
	}{p.Name, p.Type, p.Nulls, p.Distinct, p.MaxLength, "The values are too long for a result. Read them with query_feed."}), nil
}

// atTime is a time, or nil for none.
func atTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
