package api

import (
	"context"
	"io"
	"time"

	"github.com/feedmill/feedmill"
)

// FeedStore has the feeds, their versions and their refreshes.
type FeedStore interface {
	TableStore
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	SearchFeeds(ctx context.Context, workspace feedmill.ID, q feedmill.FeedSearch) (feedmill.FeedsFound, error)
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
	FeedVersions(ctx context.Context, workspace, feed feedmill.ID, at time.Time, before int64, limit int) ([]feedmill.FeedVersion, error)
	PinVersion(ctx context.Context, workspace, feed feedmill.ID, number int64, pinned bool, at time.Time) (feedmill.FeedVersion, error)
	Refresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error)
	Refreshes(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Refresh, error)
	RefreshTrace(ctx context.Context, workspace, feed, refresh feedmill.ID) ([]feedmill.TracedRequest, error)
}

// Feeds makes tables of data, keeps them up to date and reads them.
type Feeds interface {
	// Unwrap takes data out of the file around it that it came in, and fails past a number
	// of bytes. The entry names the file of a zip archive that is meant.
	Unwrap(ctx context.Context, data io.Reader, fileName, entry string, limit int64) (feedmill.Unwrapped, error)
	// Create makes a feed of an upload, whole or not at all. What keep answers
	// is written with it.
	Create(ctx context.Context, workspace feedmill.ID, u feedmill.Upload, keep feedmill.FeedResponse) (feedmill.Feed, error)
	// Replace gives a feed a new version. Of several at the same time one
	// wins; the others are [feedmill.ErrConflict].
	Replace(ctx context.Context, workspace, feed feedmill.ID, u feedmill.Upload, keep feedmill.FeedResponse) (feedmill.Feed, error)
	// Hold begins to hold the body of a request, Held returns one that is held for
	// its owner, and LetGo forgets it.
	Hold(workspace feedmill.ID) feedmill.BodyHolder
	Held(ctx context.Context, workspace feedmill.ID, owner string, id feedmill.ID) (feedmill.HeldBody, io.ReadCloser, error)
	LetGo(feedmill.HeldBody)
	// Preview says what would become of an upload and keeps nothing.
	Preview(context.Context, feedmill.Upload) (feedmill.FeedPreview, error)
	// Change changes what people call a feed, and how it fetches its data.
	Change(ctx context.Context, workspace, feed feedmill.ID, patch feedmill.FeedPatch) (feedmill.Feed, error)
	// ChangeColumns changes columns of a feed. Types of an upload are changed at
	// once, and others with the next refresh.
	ChangeColumns(ctx context.Context, workspace, feed feedmill.ID, changes []feedmill.ColumnChange) (feedmill.Feed, error)
	// TryColumns checks such changes against every stored value and keeps nothing.
	TryColumns(ctx context.Context, workspace, feed feedmill.ID, changes []feedmill.ColumnChange) (feedmill.Feed, []feedmill.ColumnTrial, error)
	// Checks checks the current version of a feed against what is expected of its rows.
	Checks(context.Context, feedmill.Feed) ([]feedmill.CheckResult, error)
	// Delete deletes a feed. Whoever reads it can finish.
	Delete(ctx context.Context, workspace, feed feedmill.ID, force bool) error

	// Upstream lists the versions of other feeds that a version was built from, and
	// UpstreamWarnings warns of feeds upstream that fail or are stale.
	Upstream(feedmill.FeedType, feedmill.FeedVersion) []feedmill.UpstreamVersion
	UpstreamWarnings(context.Context, feedmill.Feed) ([]feedmill.Warning, error)

	// Lineage finds what a feed is built from, and what is built from it.
	Lineage(context.Context, feedmill.Feed) (feedmill.Lineage, error)

	// Table finds the table of a feed, with its metadata, after all changes so far, and
	// StoredTable as it was last written, without its metadata. A feed without one is
	// feedmill.ErrNotFound.
	Table(ctx context.Context, workspace, feed feedmill.ID) (feedmill.Table, []byte, error)
	StoredTable(ctx context.Context, workspace, feed feedmill.ID) (feedmill.Table, error)
	// MetadataLocation is where readers of tables find a metadata file.
	MetadataLocation(name string) string

	// CreateFetched makes a feed that fetches its data, and has its first
	// refresh begin.
	CreateFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed, keep feedmill.FeedResponse) (feedmill.Feed, error)
	// PreviewFetched fetches and says what would become of it, and keeps nothing.
	PreviewFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed) (feedmill.FeedPreview, error)
	// Await waits until the feed is not refreshing any more, or ctx ends, and
	// answers it as it is then.
	Await(ctx context.Context, workspace, feed feedmill.ID) (feedmill.Feed, error)
	// RefreshFeed has a feed fetch its data now. It returns the refresh that
	// waits or runs already, where there is one.
	RefreshFeed(ctx context.Context, workspace, feed feedmill.ID, accept bool, keep feedmill.RefreshResponse) (feedmill.Refresh, error)
	// CancelRefresh ends a refresh that waits or runs. One that has ended is
	// [feedmill.ErrConflict].
	CancelRefresh(ctx context.Context, workspace, feed, refresh feedmill.ID) (feedmill.Refresh, error)
	// Pause keeps a feed from fetching, and Resume lets it fetch again.
	Pause(ctx context.Context, workspace, feed feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error)
	Resume(ctx context.Context, workspace, feed feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error)
	// Reconnected has the feeds of a connection tried again whose credential was refused.
	Reconnected(ctx context.Context, workspace, connection feedmill.ID) error

	// Restore gives a feed a new version with the rows of an older one.
	Restore(ctx context.Context, workspace, feed feedmill.ID, number int64, keep feedmill.FeedResponse) (feedmill.Feed, error)

	// CheckFiles fails where the rows of a version cannot be read because of its files.
	CheckFiles(ctx context.Context, v feedmill.FeedVersion) error
	// CheckQuery says what is wrong with a query of a version.
	CheckQuery(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query, format, cursor string) error
	// Rows begins to read a version. Whatever is wrong with the query or
	// keeps it from running is said before there are rows.
	Rows(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query, format, cursor string) (feedmill.FeedRows, error)
	// ParquetFile opens the result of a query as a file, and may write it first; tag
	// stands for the query and the version. It is nil where there is none.
	ParquetFile(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, q feedmill.Query, tag string, write bool) (feedmill.FeedFile, error)
	// Changes are a version as what is different from another, for the methods above.
	Changes(ctx context.Context, from, to feedmill.FeedVersion) (feedmill.FeedVersion, error)
	// Profile says what the values of a version are like that a query leaves.
	Profile(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, q feedmill.Query) (feedmill.FeedProfile, error)
	// CountRows counts the rows that a query would give without its limit.
	CountRows(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query) (int64, error)
	// Rejects opens the rows that a refresh did not store, an object a line.
	Rejects(context.Context, feedmill.Refresh) (io.ReadCloser, error)
}
