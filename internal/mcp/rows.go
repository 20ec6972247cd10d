package mcp

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// maxVersion is the maximum number of a version that a tool accepts.
const maxVersion = 1 << 53

// rowsSummary describes the rows of a result.
type rowsSummary struct {
	Feed string `json:"feed"`
	// From is the older version of changes.
	From       int64  `json:"from,omitzero"`
	Version    int64  `json:"version,omitzero"`
	Rows       int    `json:"rows"`
	NextCursor string `json:"nextCursor,omitempty"`
	Note       string `json:"note,omitempty"`
}

// queryMembers are the members of a query of the API that the tool passes on. The API checks them.
var queryMembers = []string{"fields", "where", "sort", "offset", "timezone", "weekStart"}

// queryFeed returns rows of a feed, or aggregates of them.
func queryFeed(ctx context.Context, a *api, args *arguments) (result, error) {
	feed := args.id("feed", "search_feeds")
	version, cursor := args.pinned("version")
	limit := args.limit(defaultRows, maxRows)
	query := strictjson.Value{Kind: '{'}
	for _, name := range queryMembers {
		if f, ok := args.Given(name); ok {
			query.Set(name, *f.Value)
		}
	}
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	values := pageValues(cursor)
	if version > 0 {
		values.Set("version", strconv.FormatInt(version, 10))
	}
	found, err := a.list(ctx, func(limit int) (call, error) {
		query.Set("limit", strictjson.Value{Kind: '0', Raw: strconv.AppendInt(nil, int64(limit), 10)})
		return call{method: http.MethodPost, path: feedPath(feed) + "/query", query: values, body: query.Append(nil)}, nil
	}, limit, lineBytes, compact)
	if err != nil {
		return result{}, err
	}
	return rowsOf(found, rowsSummary{Feed: feed, Version: version}), nil
}

// feedChanges returns the rows in which two versions of a feed differ.
func feedChanges(ctx context.Context, a *api, args *arguments) (result, error) {
	feed := args.id("feed", "search_feeds")
	to, cursor := args.pinned("to")
	limit := args.limit(defaultRows, maxRows)
	var from int
	if f, ok := args.Need("from"); ok {
		from, _ = f.Integer(1, maxVersion)
	}
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	values := pageValues(cursor)
	values.Set("from", strconv.Itoa(from))
	if to > 0 {
		values.Set("to", strconv.FormatInt(to, 10))
	}
	found, err := a.list(ctx, func(limit int) (call, error) {
		values.Set("limit", strconv.Itoa(limit))
		return call{method: http.MethodGet, path: feedPath(feed) + "/changes", query: values}, nil
	}, limit, lineBytes, compact)
	if err != nil {
		return result{}, err
	}
	return rowsOf(found, rowsSummary{Feed: feed, From: int64(from), Version: to}), nil
}

// pinned reads a cursor, and the version in an argument or in the cursor.
func (a *arguments) pinned(name string) (version int64, cursor string) {
	version, cursor = a.cursor()
	given := int64(a.integer(name, 1, maxVersion))
	switch {
	case given == 0:
		return version, cursor
	case version != 0 && version != given:
		a.Fault("cursor", "cursor is for version "+strconv.FormatInt(version, 10)+". Leave out "+name+", or start again without cursor.")
	}
	return given, cursor
}

func pageValues(cursor string) url.Values {
	values := make(url.Values)
	if cursor != "" {
		values.Set("cursor", cursor)
	}
	return values
}

// rowsOf is the result for rows.
func rowsOf(found listing, s rowsSummary) result {
	if found.version > 0 {
		s.Version = found.version
	}
	s.Rows, s.NextCursor = len(found.lines), cursorOf(s.Version, found.next)
	if s.NextCursor != "" {
		s.Note = "There are more rows. Pass nextCursor as cursor, with the same other arguments."
	}
	return result{summary: s, lines: found.lines}
}
