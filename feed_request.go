package feedmill

import (
	"context"
	"io"
	"time"
)

// Upload is data that is to become a table.
type Upload struct {
	// Body is the data itself, with its Content-Encoding undone. It is read
	// to its end, where it can still turn out to be at fault.
	Body io.Reader
	// Name is what the feed is called, and File what the file with the data is,
	// where there was one.
	Name, File string
	// Entry is the file of a zip archive that was asked for.
	Entry string
	Reading
	// Mode says what becomes of the rows that are there, and Key names the
	// columns that they are merged by. A new feed keeps both for the uploads
	// that follow.
	Mode FeedMode
	Key  []string
	// Columns are changes to what is found.
	Columns []ColumnChange
	// Accept takes rows that are not what is expected of them.
	Accept bool
}

// Unwrapped is data without the file around it that it came in. It must be closed.
type Unwrapped struct {
	io.ReadCloser
	// Wrapper is gzip, zstd or zip, empty where the data came as it is.
	Wrapper string
	// Name is what the data itself is called, and Format what it looks like. Both can
	// be empty.
	Name, Format string
}

// FetchedFeed is a feed to be made that fetches its data.
type FetchedFeed struct {
	Type FeedType
	// Body is the JSON object that says how the data is fetched and read. What
	// is wrong with it is an [*Error] with pointers into it.
	Body []byte
	// SourceOf is a feed on whose source this one is made, empty for a source
	// of its own.
	SourceOf ID
	// Compare is a feed that Body changes, empty for a new one. Only previews have it.
	Compare ID
	// Policy is what the feed keeps and what is expected of its data.
	Policy FeedPatch
	// Refused is what else is wrong with the request, nil for nothing. The feed is then
	// refused with that and all faults of its definition.
	Refused error
}

// FeedPatch is what is to be different about a feed. What is nil stays.
type FeedPatch struct {
	Name, Description *string
	// TableName is the name in the catalogue.
	TableName *string
	// Keep says which versions stay.
	Keep *Keep
	// Schema, ExpectEvery and Expect are what is expected of the data; see
	// [Expectations].
	Schema      *SchemaPolicy
	ExpectEvery *time.Duration
	Expect      *ExpectedRows
	// Spec is a JSON object with the members of the body of a feed that
	// fetches its data which are to be replaced.
	Spec []byte
	// Rules is another version of the rules, 0 to keep the one that the feed has. A feed
	// that fetches its data has it in Spec.
	Rules Rules
	// Fields are the names of all that is to be different.
	Fields []string
	// Refused is what else is wrong with the request, as in [FetchedFeed].
	Refused error
}

// FeedPreview is what would become of data.
type FeedPreview struct {
	Columns  []Column
	RowCount int64
	Warnings []Warning
	// Rows are the first of them, a JSON array of objects.
	Rows []byte
	// Found is how the data is written.
	Found Findings
	// Spec says how the data is fetched and read, without secrets, and Trace
	// what was asked for, which is nothing for an upload.
	Spec  []byte
	Trace []TracedRequest
	// Plan is what a query came to, nil where there was none.
	Plan *QueryPlan
	// Complete says that all of the data was read.
	Complete bool
	// Compare is what is different from the feed that the preview changes; nil for a new one.
	Compare *FeedComparison
}

// FeedComparison is what is different in a preview from the current version of its feed.
type FeedComparison struct {
	Version int64
	// Rows is nil unless all of the data was read and the rows have a key.
	Rows    *RowChanges
	Columns ColumnChanges
}

// FeedRows are rows in the format that was asked for. They must be closed.
type FeedRows struct {
	io.ReadCloser
	// Next is the cursor of the next page, empty where there is none.
	Next string
}

// FeedFile is the rows of a feed as a file, of which parts can be read.
type FeedFile = interface {
	io.ReaderAt
	io.ReadSeekCloser
	Size() int64
}

// FeedResponse makes the response that is kept of a request about a feed. It is
// called inside the transaction of what the request does.
type FeedResponse = func(Feed) (*IdempotentResponse, error)

// RefreshResponse is FeedResponse for a request about a refresh.
type RefreshResponse = func(Refresh) (*IdempotentResponse, error)

// HeldFor is how long the body of a preview is held.
const HeldFor = 15 * time.Minute

// HeldBody is the body of a request that is held for requests that follow, so that a
// large file need not be sent again. Whoever sent it may use it, and nobody else.
type HeldBody struct {
	ID        ID
	Workspace ID
	// Owner is the subject of the credential.
	Owner string
	// ContentType and Disposition are the headers of the request that say what the
	// body is.
	ContentType, Disposition string
	// File is the blob with the body, which has so many bytes.
	File      string
	Bytes     int64
	ExpiresAt time.Time
}

// BodyHolder takes a body that may be held. It must be kept or closed.
type BodyHolder interface {
	io.Writer
	// Keep holds what was written. It returns false where there is no room for it.
	Keep(context.Context, HeldBody) (HeldBody, bool)
	Close()
}
