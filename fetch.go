package feedmill

import (
	"context"
	"crypto/tls"
	"io"
	"math"
	"net/url"
	"os"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
)

// FeedDefinition is a feed that fetches its data, and the source that it is
// fetched from, as somebody defined them: split into what is kept where.
type FeedDefinition struct {
	Name        string
	Description string
	Mode        FeedMode
	Key         []string
	// Spec is the JSON text of how the data is fetched and read, without
	// secrets.
	Spec []byte
	// Rules is the version of the rules that the definition names or keeps.
	Rules Rules
	// Pins is what the names of a query were resolved to.
	Pins Pins
	// Source is the zero value for one more feed of a source that is there.
	Source SourceDefinition
}

// SourceDefinition is what a definition says of the source, which all of its
// feeds share.
type SourceDefinition struct {
	Host     string
	Schedule Schedule
	// Spec is the source's part of the feed's, and Secrets the JSON text of
	// what it leaves out, which is sealed before it is kept.
	Spec, Secrets []byte
	Rules         Rules
}

// FetchAgain is what a change of a definition calls for.
type FetchAgain int

// From the least to the most.
const (
	// FetchAsPlanned is for what counts from the next refresh on.
	FetchAsPlanned FetchAgain = iota
	// FetchFailed is for another credential, which is tried where the last
	// was of no use.
	FetchFailed
	// FetchAnew is for other data: everything is fetched, and takes the place
	// of what is there.
	FetchAnew
)

// PageReading says how records are read from the pages of a fetch.
type PageReading struct {
	// Reading has no format where each page says its own.
	Reading
	// List says that there can be several pages, which are parts of a list.
	List bool
	// Paginated are the JSONPaths of members that lead from page to page, which are not part of the data.
	Paginated []string
	// Watch is a column whose texts See is told, one at a time and in any
	// order, as records of nested objects name it. It is empty for none.
	Watch string
	See   func(text []byte)
	// Reshape writes an object a line for each of the records of a page, where it
	// reports true; other pages are read as they are, with the columns that Columns
	// says. It is nil where all are.
	Reshape func(context.Context, FetchedPage, io.Writer) (bool, error)
	Columns PageColumns
	// Notes are warnings about what Reshape and Missing have seen, after the last page;
	// it may be nil.
	Notes func() []Warning
	// Missing says what is wrong with a page that has no records, nil for nothing. It is
	// told where the records of the pages before it were found, and may be nil itself.
	Missing func(p FetchedPage, found string) error
	// Deletes says which rows mark deletions, nil where none does.
	Deletes *PageDeletes
}

// PageDeletes says which rows of pages mark the deletion of the row of their key.
type PageDeletes struct {
	// Column has a value in the rows that mark a deletion. It is not stored.
	Column string
	// Listed is how many such rows of the last page are not records of it, and Count how many
	// there are in all pages.
	Listed, Count func() int64
}

// FetchedPage is one answer of a source with data.
type FetchedPage struct {
	// Number counts from 1.
	Number int
	// First says that it is the first of pages that lead from one to the next.
	First bool
	// Format is csv, tsv, json or ndjson.
	Format string
	// Body is a section of the spool, which stays as it is.
	Body *io.SectionReader
	// With are columns that every record of the page gets.
	With []PageColumn
}

// PageColumns says which of the columns of pages a table has, and what it calls them.
type PageColumns struct {
	// Pick are columns that come first, and Only says that there are no others.
	Pick []PickedColumn
	Only bool
}

// PickedColumn is a column of a name, which the pages call otherwise. Text says that it
// is to be text, whatever its values look like.
type PickedColumn struct {
	Name, From string
	Text       bool
}

// PageColumn is a column that all records of a page have in common.
type PageColumn struct {
	Name string
	JSON []byte
}

// Fetch is one fetch of a source for some of its feeds.
type Fetch struct {
	Source    ID
	Workspace ID
	// Spec and Secrets are what was defined of the source, under the version of
	// the rules.
	Spec, Secrets []byte
	Rules         Rules
	// Feeds are those that the data is for. Each has a position of its own.
	Feeds []Feed
	// Enough is how many records are wanted at least, 0 for all.
	Enough int64
	// Attempt counts the tries of a run, from 1; 0 is the first, too.
	Attempt int
	// Once says that a request that fails is not made again: somebody waits for
	// what came of it.
	Once bool
	// Now is the time that the definition can refer to.
	Now time.Time
	// Spool is an empty file for the pages. The caller removes it.
	Spool *os.File
	// Take is called before bytes are written to the spool or the stage, and fails where
	// the disk has no room for them.
	Take func(n int64) error
	// Stage is a folder for what is done of a fetch, so that it goes on behind
	// that where it is cut off; it is empty where nothing is kept. Files that are
	// read until the data is written are appended to Close.
	Stage string
	Close *[]io.Closer
	// Trace is told of every request, in order and from one goroutine.
	Trace func(TracedRequest)
	// Progress is told how many of the parts of the fetch are done, where it has
	// parts, from one goroutine at a time.
	Progress func(done, all int64)
	// KeepSecrets keeps other secrets from now on, before it returns. It is nil
	// where nothing is kept.
	KeepSecrets func(ctx context.Context, secrets []byte) error
	// Renew has a refresh token exchanged that others may have, too, while nobody else
	// does, in any process. What it returns is kept before Renew does. It is nil where
	// the token is the source's own.
	Renew func(ctx context.Context, exchange func(ctx context.Context, kept Renewal) (Renewal, error)) error
}

// Renewal is a refresh token, and the last access token that was received for it.
type Renewal struct {
	RefreshToken string
	// AccessToken is empty where there is none that is known, and Until is when it
	// ends, zero where nobody knows.
	AccessToken string
	Until       time.Time
}

// FetchSink takes what a fetch brings: pages whose records are modelled, or rows
// whose columns have types already.
type FetchSink interface {
	// Read says how the pages of a feed are read. It is called for each feed
	// before the first page.
	Read(feed ID, r PageReading) error
	// Page takes one page for all feeds, and says how many rows each of them has of
	// it, in their order. It is called in the order of the pages, one at a time.
	Page(ctx context.Context, p FetchedPage) (rows []int64, err error)

	// Columns says which columns the rows have, once and before the first rows:
	// what the source calls them and their types.
	Columns(ctx context.Context, columns []Column) error
	// Rows takes some rows for all feeds: a vector for each column, which nobody
	// changes any more. It is called in the order of the rows.
	Rows(ctx context.Context, run []columnar.Vector) error
}

// Fetched is what a fetch came to.
type Fetched struct {
	// NotModified says that the source has nothing else than the last time;
	// there were no pages.
	NotModified bool
	// Positions are where the next fetch goes on from for each of the feeds,
	// once the data of this one is kept.
	Positions [][]byte
	// Again says for each of the feeds which rows can have come that it has
	// already. It is nil where none can.
	Again []FetchedAgain
	// Full says that everything was fetched for feeds that have a position: rows whose keys
	// did not come no longer exist. Partial is why the fetch deletes nothing, as the end of a
	// sentence; it is empty where the fetch is complete.
	Full    bool
	Partial string
	// Pins are what the names of a query mean from now on, nil where they stay.
	Pins *Pins
	// Warnings are about rows whose columns have types already, and Plan is what a
	// query came to, nil where there was none. Both are there also where a fetch
	// was broken off.
	Warnings []Warning
	Plan     *QueryPlan
}

// FetchedAgain is how many of the last rows of a feed, and how many of the first
// that came, can be the same ones. All is every row.
type FetchedAgain struct{ Kept, Came int64 }

// All is more rows than there are.
const All = math.MaxInt64

// SourceFailure is why a fetch failed where the source or its definition is at
// fault, in the words of a problem. It holds no secrets.
type SourceFailure struct {
	// Type is the stable name of the problem, such as pagination-loop.
	Type   string
	Title  string
	Detail string
	// AuthRequired says that the source refused the credential: to try again
	// is of no use until it is changed.
	AuthRequired bool
	// Forbidden says that the source knows who asks and refuses all the same. It
	// may be a whim: it is for the feed to decide what it means.
	Forbidden bool
	// Lost says that the connection broke while data came, so that another try may
	// succeed.
	Lost bool
	// RetryAfter is how long the source wants to be left alone.
	RetryAfter time.Duration
	// Said is the request that failed and what the source answered, nil where
	// there was none.
	Said  *SourceAnswer
	Cause error
}

func (f *SourceFailure) Error() string { return f.Detail }

func (f *SourceFailure) Unwrap() error { return f.Cause }

// HTTPRequest is a request of an exchange over HTTP.
type HTTPRequest struct {
	// Workspace is whose request it is. A connection that is kept open serves
	// one workspace only: what an endpoint writes on it at the wrong moment
	// must not become the answer to another's request.
	Workspace ID
	Method    string
	URL       *url.URL
	// Header has names in their canonical form.
	Header [][2]string
	// Body is sent with a POST.
	Body []byte
	// TLS has the certificates of the connection; nil means the usual ones.
	TLS *ClientTLS
}

// ClientTLS has the certificates of connections to one endpoint.
type ClientTLS struct {
	// ID identifies the certificates. Connections and TLS sessions with different IDs are
	// never shared.
	ID string
	// Authorities are PEM certificates that verify the server; empty means those of the
	// system. If AddAuthorities is set, both are trusted.
	Authorities    string
	AddAuthorities bool
	// Certificate is the client certificate; nil means none.
	Certificate *tls.Certificate
}

// HTTPAnswer is what an endpoint answers.
type HTTPAnswer struct {
	Status int
	// Header has names in their canonical form. HeaderCut says that lines were left
	// out of it.
	Header    [][2]string
	HeaderCut bool
	// Body is plain, whatever its encoding was, and bounded. It is to be
	// closed.
	Body io.ReadCloser
}

// Values are the values of a header, by its canonical name.
func (a *HTTPAnswer) Values(name string) (values []string) {
	for _, field := range a.Header {
		if field[0] == name {
			values = append(values, field[1])
		}
	}
	return values
}

// UnreadableAnswer is the error of an answer that is none of HTTP's, in words for
// whoever gave the address.
type UnreadableAnswer string

func (e UnreadableAnswer) Error() string { return string(e) }
