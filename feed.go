package feedmill

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// FeedState is how a feed stands with its source. A feed that has one version
// is readable in every state.
type FeedState string

// The states of a feed.
const (
	FeedPending      FeedState = "pending"
	FeedRefreshing   FeedState = "refreshing"
	FeedReady        FeedState = "ready"
	FeedFailed       FeedState = "failed"
	FeedPaused       FeedState = "paused"
	FeedAuthRequired FeedState = "auth_required"
)

// FeedMode says what becomes of the rows that a feed has when new ones come.
type FeedMode string

// The modes of a feed.
const (
	ModeReplace FeedMode = "replace"
	ModeAppend  FeedMode = "append"
	ModeMerge   FeedMode = "merge" // by the columns of the key
)

// Feed is a typed table made of what a data source fetched. Its data is a row
// of immutable versions, of which the newest is the current one.
type Feed struct {
	ID        ID
	Workspace ID
	// Source is the data source behind the feed. No client ever sees it.
	Source      ID
	Name        string
	Description string
	// TableName is the name of the feed as a table of the catalogue, unique in the workspace. It
	// is empty for a feed of an earlier release until it gets one.
	TableName string
	Type      FeedType
	State     FeedState

	// Version is the number of the current version, 0 where there is none
	// yet. Columns, RowCount, ByteSize, ContentHash and Warnings are of it.
	Version int64
	Columns []Column
	// LastColumn is the greatest number that a column of the feed has had. Numbers are not
	// used again, so that a column is never taken for one that was removed.
	LastColumn  int
	RowCount    int64
	ByteSize    int64
	ContentHash string
	Warnings    []Warning

	Mode FeedMode
	// Key names the columns that rows are merged by.
	Key []string
	// Keep says which versions stay.
	Keep Keep
	// Expects is what the owner of the feed expects of its data.
	Expects Expectations
	// SucceededAt is when the feed last got data or was found to have it, and StaleAt
	// when it is stale unless that happens again; zero where it never is. Stale says
	// that it is.
	SucceededAt, StaleAt time.Time
	Stale                bool
	// Spec is the JSON text of how the data is fetched and read, without
	// secrets: for an upload its parameters.
	Spec []byte
	// Rules is the version of the rules that the data is read by, and Pins what the
	// names of a query were resolved to.
	Rules Rules
	Pins  Pins
	// Found is how the data of the current version is written.
	Found Findings

	// Schedule and NextRefreshAt are those of the source.
	Schedule      Schedule
	NextRefreshAt time.Time
	// Failures counts the refreshes that failed since the last that did not.
	Failures int
	// Position is the JSON text of how far the fetches that the feed has the
	// data of have come, for the next one to go on from. It moves only together
	// with a version, or where there was nothing new for one. Where it is empty
	// everything is fetched, and takes the place of what the feed has.
	Position []byte
	// Recent are the last refreshes that ended, oldest first, a letter each; see
	// [Feed.RecentRefreshes].
	Recent string
	// LastRefresh is the newest one, nil where there was none.
	LastRefresh *Refresh
	// LastError says why the feed does not have newer data, nil where it
	// could.
	LastError *FeedError

	CreatedAt time.Time
	UpdatedAt time.Time
}

// NewFeed is a feed to be made, and what is made together with it.
type NewFeed struct {
	Feed Feed
	// Source is what the feed is fetched from, where that is new as well. It
	// is nil for an upload, and for one more feed of a source that is there.
	Source *Source
	// Version is the first one, and Refresh what brings it or is to bring it;
	// each is nil where there is none yet.
	Version *FeedVersion
	Refresh *Refresh
	// Parents are the feeds that the feed is built from.
	Parents []ParentLink
}

// FeedError says why a refresh failed, in the words of a problem.
type FeedError struct {
	Type   string    `json:"type"`
	Title  string    `json:"title"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
	// Source is what the source said, nil where it is not about that. No event
	// has it.
	Source *SourceAnswer `json:"source,omitzero"`
}

// MaxErrorDetail is the most that is kept of the detail of a [FeedError].
const MaxErrorDetail = 8 << 10

// CutText is a text of others as it can be kept: valid UTF-8 without U+0000, of at most so
// many bytes. One that is longer ends with an ellipsis.
func CutText(text string, most int) string {
	const ellipsis = "…"
	clean := strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), most)], "\ufffd"), "\x00", "\ufffd")
	if len(text) <= most && len(clean) <= most {
		return clean
	}
	end := min(most-len(ellipsis), len(clean))
	for end > 0 && end < len(clean) && !utf8.RuneStart(clean[end]) {
		end--
	}
	return clean[:end] + ellipsis
}

// Switch makes v, which r brought, the current version.
func (f *Feed) Switch(v FeedVersion, r Refresh) {
	f.adopt(v)
	f.Record(r)
}

// adopt makes v the current version.
func (f *Feed) adopt(v FeedVersion) {
	f.Version, f.RowCount, f.ByteSize = v.Number, v.Rows, v.Bytes
	f.Columns = f.label(v.Columns)
	f.LastColumn = LastNumber(f.LastColumn, v.Columns)
	f.ContentHash, f.Warnings, f.Found, f.UpdatedAt = v.ContentHash, v.Warnings, v.Found, v.CreatedAt
}

// label is columns of a new version with what somebody may have said of them while
// it was made, and with the types that wait for the next one.
func (f *Feed) label(columns []Column) []Column {
	labelled := Label(columns, f.Columns)
	for i := range labelled {
		c := &labelled[i]
		at := slices.IndexFunc(f.Columns, func(stored Column) bool { return stored.ID == c.ID && stored.SourceName == c.SourceName })
		if at >= 0 && f.Columns[at].Retype != "" && f.Columns[at].Retype != c.Type {
			c.Retype = f.Columns[at].Retype
		}
	}
	return labelled
}

// Record makes r the last refresh and moves the state to what it means. A
// paused feed stays paused, whatever comes of a refresh that was under way.
func (f *Feed) Record(r Refresh) {
	f.last(r)
	if !r.Open() {
		f.Expects.Accept = false
	}
	state := FeedRefreshing
	switch r.State {
	case RefreshSucceeded:
		state, f.LastError = FeedReady, nil
		f.fresh(r.EndedAt)
	case RefreshFailed:
		state, f.LastError = FeedFailed, r.Error
	}
	if f.State != FeedPaused {
		f.State = state
	}
}

// Why a feed is paused.
const (
	PausedByUser     = "user"
	PausedByFailures = "failures"
)

// PausedReason says why a feed is paused, and is empty where it is not.
func (f *Feed) PausedReason() string {
	switch {
	case f.State != FeedPaused:
		return ""
	case f.Failures >= MaxFailures:
		return PausedByFailures
	}
	return PausedByUser
}

const (
	// MaxDescription is how many characters the description of a feed may have.
	MaxDescription = 2000
	// maxKey is how many columns a key may have.
	maxKey = 50
)

// ReadMode reads mode and key. With a key each value of it has one row, the last
// that came, in every mode: a source may give a record twice. What is fetched
// from some value on is only what is new: it adds to what is there, whatever the
// mode is said to be.
func ReadMode(o *strictjson.Object, incremental bool) (mode FeedMode, key []string) {
	f, given := o.Given("key")
	switch {
	case !given:
	case f.Kind != '[':
		f.Fault("key must be an array, not " + strictjson.KindName(f.Kind) + ".")
	case len(f.Items) > maxKey:
		f.Fault(fmt.Sprintf("key must have at most %d elements; it has %d.", maxKey, len(f.Items)))
	default:
		for _, item := range f.Elements() {
			name, ok := item.Text()
			switch {
			case !ok:
			case name == "":
				item.Fault("A column name must not be empty.")
			case slices.Contains(key, name):
				item.Fault("The column is listed more than once. List it once.")
			default:
				key = append(key, name)
			}
		}
	}
	mode = ModeReplace
	if f, ok := o.Given("mode"); ok {
		if word, ok := f.Choice(string(ModeReplace), string(ModeAppend), string(ModeMerge)); ok {
			mode = FeedMode(word)
		}
	}
	switch {
	case mode == ModeMerge && len(key) == 0:
		o.Fault("key", "key is required with mode merge. List the columns that identify a row.")
	case incremental && mode == ModeReplace && len(key) > 0:
		mode = ModeMerge
	case incremental && mode == ModeReplace:
		mode = ModeAppend
	}
	return mode, key
}

// ReadDescription reads the description of a feed.
func ReadDescription(o *strictjson.Object) string {
	f, ok := o.Given("description")
	if !ok {
		return ""
	}
	text, _ := f.Text()
	if n := utf8.RuneCountInString(text); n > MaxDescription {
		f.Fault(fmt.Sprintf("description must have at most %d characters; it has %d.", MaxDescription, n))
	}
	if strings.ContainsRune(text, 0) {
		f.Fault("description must not contain the character U+0000.")
	}
	return text
}
