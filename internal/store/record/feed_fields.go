package record

import "github.com/feedmill/feedmill"

// FeedColumns are the columns of Feed, and FeedChanging those of ChangingFeed.
const (
	FeedColumns  = `workspace_id, id, source_id, type, created_at, ` + FeedChanging
	FeedChanging = `name, description, state, version, columns, row_count, byte_size, content_hash, warnings, mode, key,
		spec, found, schedule, next_refresh_at, failures, position, last_error, updated_at, keep,
		expect, last_success_at, stale_at, stale, recent, rules, pins, last_column, table_name`
)

// Feed lists the fields of a feed but for its last refresh.
func Feed(f *feedmill.Feed, k Kinds) []any {
	return append([]any{&f.Workspace, &f.ID, &f.Source, &f.Type, k.Time(&f.CreatedAt)}, ChangingFeed(f, k)...)
}

// ChangingFeed lists those of the fields that are written again with a change.
func ChangingFeed(f *feedmill.Feed, k Kinds) []any {
	return []any{
		&f.Name, &f.Description, &f.State, &f.Version,
		columns{&f.Columns},
		&f.RowCount, &f.ByteSize, &f.ContentHash, JSON(&f.Warnings), &f.Mode, JSON(&f.Key),
		&f.Spec, JSON(&f.Found),
		schedule{&f.Schedule},
		k.Time(&f.NextRefreshAt), &f.Failures, &f.Position, JSON(&f.LastError), k.Time(&f.UpdatedAt), JSON(&f.Keep),
		JSON(&f.Expects), k.Time(&f.SucceededAt), k.Time(&f.StaleAt), &f.Stale, &f.Recent,
		&f.Rules, JSON(&f.Pins), &f.LastColumn, &f.TableName,
	}
}

// scanFeed reads a feed and its last refresh: FeedColumns and, behind them,
// RefreshColumns, which are NULL where there was none.
func scanFeed(row Row, k Kinds) (f feedmill.Feed, err error) {
	var last feedmill.Refresh
	err = row.Scan(append(Feed(&f, k), Refresh(&last, k)...)...)
	if last.ID != "" {
		f.LastRefresh = &last
	}
	return f, err
}

// LastRefresh is the id of a feed's last refresh, empty where there was none.
func LastRefresh(f feedmill.Feed) feedmill.ID {
	if f.LastRefresh == nil {
		return ""
	}
	return f.LastRefresh.ID
}

// KeepFeed puts back what a change of a feed may not change.
func KeepFeed(f *feedmill.Feed, was feedmill.Feed) {
	f.ID, f.Workspace, f.Source, f.Type = was.ID, was.Workspace, was.Source, was.Type
	f.Version, f.LastRefresh, f.CreatedAt = was.Version, was.LastRefresh, was.CreatedAt
}

// VersionColumns are the columns of Version.
const VersionColumns = `feed_id, number, columns, row_count, byte_size, content_hash, warnings, found, files, original, created_at,
	position, refresh_id, changes, keyed, pinned, stale_at, spec, rules, original_bytes`

// Version lists the fields of a version.
func Version(v *feedmill.FeedVersion, k Kinds) []any {
	return []any{
		&v.Feed, &v.Number,
		columns{&v.Columns},
		&v.Rows, &v.Bytes, &v.ContentHash, JSON(&v.Warnings), JSON(&v.Found),
		Files{&v.Files},
		&v.Original, k.Time(&v.CreatedAt),
		&v.Position, &v.Refresh, JSON(&v.Changes), JSON(&v.Keyed), &v.Pinned, k.Time(&v.StaleAt), &v.Spec, &v.Rules, &v.OriginalBytes,
	}
}

// RefreshColumns are the columns of Refresh.
const RefreshColumns = `feed_id, id, state, started_at, ended_at, requests, pages, bytes_in, rows_in, rows_stored,
	rows_rejected, rejects, version, unchanged, warnings, error, parts, parts_done, changes, triggered_by, stage,
	rows_superseded, rows_known, checks`

// Refresh lists the fields of a refresh, all of which may be NULL: a feed is
// read with its last one, and may have none.
func Refresh(r *feedmill.Refresh, k Kinds) []any {
	return []any{
		nullable(&r.Feed), nullable(&r.ID), nullable(&r.State), k.Time(&r.StartedAt), k.Time(&r.EndedAt), nullable(&r.Requests), nullable(&r.Pages),
		nullable(&r.BytesIn), nullable(&r.RowsIn), nullable(&r.RowsStored), nullable(&r.RowsRejected), nullable(&r.Rejects),
		nullable(&r.Version), nullable(&r.Unchanged), JSON(&r.Warnings), JSON(&r.Error),
		nullable(&r.Parts), nullable(&r.PartsDone), JSON(&r.Changes), nullable(&r.Trigger), nullable(&r.Stage),
		nullable(&r.RowsSuperseded), nullable(&r.RowsKnown), JSON(&r.Checks),
	}
}
