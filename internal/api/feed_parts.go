package api

import (
	"context"
	"io"

	"github.com/feedmill/feedmill"
)

// Feeds makes tables of data, keeps them up to date and reads them.
type Feeds interface {
	// Create makes a feed of an upload, whole or not at all. What keep answers
	// is written with it.
	Create(ctx context.Context, workspace feedmill.ID, u Upload, keep FeedResponse) (feedmill.Feed, error)
	// Replace gives a feed a new version. Of several at the same time one
	// wins; the others are [feedmill.ErrConflict].
	Replace(ctx context.Context, workspace, feed feedmill.ID, u Upload, keep FeedResponse) (feedmill.Feed, error)
	// Preview says what would become of an upload and keeps nothing.
	Preview(context.Context, Upload) (FeedPreview, error)
	// Change changes what people call a feed, and how it fetches its data.
	Change(ctx context.Context, workspace, feed feedmill.ID, patch FeedPatch) (feedmill.Feed, error)
	// Delete deletes a feed. Whoever reads it can finish.
	Delete(ctx context.Context, workspace, feed feedmill.ID) error

	// CreateFetched makes a feed that fetches its data, and has its first
	// refresh begin.
	CreateFetched(ctx context.Context, workspace feedmill.ID, n FetchedFeed, keep FeedResponse) (feedmill.Feed, error)
	// PreviewFetched fetches and says what would become of it, and keeps nothing.
	PreviewFetched(ctx context.Context, workspace feedmill.ID, n FetchedFeed) (FeedPreview, error)
	// Await waits until the feed is not refreshing any more, or ctx ends, and
	// answers it as it is then.
	Await(ctx context.Context, workspace, feed feedmill.ID) (feedmill.Feed, error)
	// RefreshFeed has a feed fetch its data now. It answers the refresh that
	// waits or runs already, where there is one.
	RefreshFeed(ctx context.Context, workspace, feed feedmill.ID, keep RefreshResponse) (feedmill.Refresh, error)
	// CancelRefresh ends a refresh that waits or runs. One that has ended is
	// [feedmill.ErrConflict].
	CancelRefresh(ctx context.Context, workspace, feed, refresh feedmill.ID) (feedmill.Refresh, error)
	// Pause keeps a feed from fetching, and Resume lets it fetch again.
	Pause(ctx context.Context, workspace, feed feedmill.ID, keep FeedResponse) (feedmill.Feed, error)
	Resume(ctx context.Context, workspace, feed feedmill.ID, keep FeedResponse) (feedmill.Feed, error)

	// CheckQuery says what is wrong with a query of a version.
	CheckQuery(v feedmill.FeedVersion, q feedmill.Query, format, cursor string) error
	// Rows begins to read a version. Whatever is wrong with the query or
	// keeps it from running is said before there are rows.
	Rows(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query, format, cursor string) (FeedRows, error)
	// Rejects opens the rows that a refresh did not store, an object a line.
	Rejects(context.Context, feedmill.Refresh) (io.ReadCloser, error)
}

// KeepFeed makes what is kept of the answer to a request that is about a feed.
// It is called inside a transaction.
type FeedResponse = func(feedmill.Feed) (*feedmill.IdempotentResponse, error)

// KeepRefresh is KeepFeed for a request that is about a refresh.
type RefreshResponse = func(feedmill.Refresh) (*feedmill.IdempotentResponse, error)

// FetchedFeed is a feed to be made that fetches its data.
type FetchedFeed struct {
	Type feedmill.FeedType
	// Body is the JSON object that says how the data is fetched and read. What
	// is wrong with it is a [*feedmill.Error] with pointers into it.
	Body []byte
	// SourceOf is a feed on whose source this one is made, empty for a source
	// of its own.
	SourceOf feedmill.ID
}

// FeedPatch is what is to be different about a feed. What is nil stays.
type FeedPatch struct {
	Name, Description *string
	// Spec is a JSON object with the members of the body of a feed that
	// fetches its data which are to be replaced.
	Spec []byte
}

// FeedPreview is what would become of data.
type FeedPreview struct {
	Columns  []feedmill.Column
	RowCount int64
	Warnings []feedmill.Warning
	// Rows are the first of them, a JSON array of objects.
	Rows []byte
	// Trace is what was asked for, and Spec how, without secrets. Both are
	// empty for an upload.
	Trace []feedmill.TracedRequest
	Spec  []byte
}

// FeedRows are rows in the format that was asked for. They must be closed.
type FeedRows struct {
	io.ReadCloser
	// Next is the cursor of the next page, empty where there is none.
	Next string
}
