package feedmill

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// FeedVersion is the data of a feed as it was from one moment on. Its rows never
// change; which files they lie in may.
//
// Its files are on disk before the version is written, and go only after it is
// gone: so what a crash leaves behind is at worst a file that no version names.
type FeedVersion struct {
	Feed ID
	// Number counts from 1, without gaps.
	Number      int64
	Columns     []Column
	Rows        int64
	Bytes       int64
	ContentHash string
	Warnings    []Warning
	// Found is how the data that came is written.
	Found Findings
	// Files have the rows, those of the first before those of the second and so
	// on. Versions share them. The name of a file is made anew for every try,
	// never of the number: of two that try the same number one loses, and its
	// file must not be the winner's.
	Files []VersionFile
	// Original is the name of the blob with the upload as it came, empty
	// where there is none. Several versions can be made of one original.
	Original string
	// OriginalBytes is the size of the original, negative where an earlier release
	// stored it and it was not measured since.
	OriginalBytes int64
	// Spec and Rules are those of the feed with this version; see [Feed.Spec].
	Spec  []byte
	Rules Rules
	// Position is that of the feed with this version; see [Feed.Position].
	Position []byte
	// Refresh is what brought the version.
	Refresh ID
	// Changes are what is different from the version before.
	Changes VersionChanges
	// Keyed are the ids of the columns of which each row is known to have other
	// values than all other rows, and none that is null.
	Keyed []string
	// Since is nil, or the version whose differences from this one are read in place
	// of the rows. No store keeps it.
	Since *FeedVersion
	// Pinned versions are kept whatever [Keep] says.
	Pinned    bool
	CreatedAt time.Time
	// StaleAt is when the version need not be kept any more, zero while that is
	// not known.
	StaleAt time.Time
}

// UpstreamVersion is a version of another feed whose rows a version was built from.
type UpstreamVersion struct {
	ID      ID
	Version int64
}

// FileLease is a file that stays at its path until it is released.
type FileLease struct {
	Path    string
	Release func()
}

// VersionFile is a file with rows of versions. It never changes.
type VersionFile struct {
	// Name is that of the blob.
	Name  string
	Rows  int64
	Bytes int64
	// Sum stands for the rows, in their order; see package lake. Files of old
	// releases have none.
	Sum string
	// Columns are those of the file where they are not those of the version:
	// one that is not there is null, and numbers may be of a narrower type. Nil
	// means that they are the same.
	Columns []Column
	// Cuts are the rows, by their numbers in the file, at which a reader that goes through
	// all of them begins anew, so that it never holds many large rows. A file of small
	// rows has none.
	Cuts []int64
	// LargestRow is how many bytes the largest row has where that is more than several rows
	// together are read with, and zero for all other files.
	LargestRow int64
	// Sums are those of a file that was just written. The store keeps them once for
	// all versions that have the file.
	Sums FileSums
}

// FileSums are what a file is verified with, in hexadecimal. Both are empty for files of
// old releases that were not read in full since.
type FileSums struct {
	// SHA256 is that of the whole file, and Footer that of its footer: the metadata,
	// its length and the magic bytes.
	SHA256, Footer string
}

// StoredFile is a Parquet file that versions of a feed have, and which of them.
type StoredFile struct {
	Name        string
	Feed        ID
	First, Last int64
	Sums        FileSums
}

// ScrubEvery is how often every stored file is verified.
const ScrubEvery = 7 * 24 * time.Hour

// UnreferencedFile is a file that no version and no refresh has. Its size is negative
// where no record has it.
type UnreferencedFile struct {
	Name  string
	Bytes int64
}

// Feed is the feed that the file was of: names begin with it.
func (f UnreferencedFile) Feed() ID {
	feed, _, _ := strings.Cut(f.Name, "/")
	return ID(feed)
}

// ObjectLease is how long a file counts as being written after its replica last renewed its
// lease, and ObjectRenewal how often replicas do. KeepDeletedObject is how long the name of a
// deleted file stays known, so that no record can name the file.
const (
	ObjectLease       = 10 * time.Minute
	ObjectRenewal     = time.Minute
	KeepDeletedObject = 7 * 24 * time.Hour
)

// KeepUnreferenced is how long a file stays that no version and no refresh has, so that
// a backup of the records finds the files that they name, and KeepUnreferencedFull how
// long while the disk has reached its floor.
const (
	KeepUnreferenced     = 24 * time.Hour
	KeepUnreferencedFull = time.Hour
)

// VersionRef names a version.
type VersionRef struct {
	Workspace, Feed ID
	Number          int64
}

// ExportSuffix is how the names of files end that have the result of a query and are kept
// with a version.
const ExportSuffix = "-export.parquet"

// CrowdedFiles is how many files a version may have before they are joined.
const CrowdedFiles = 8

// FileNames are the names of the files of the version.
func (v *FeedVersion) FileNames() []string {
	names := make([]string, len(v.Files))
	for i := range v.Files {
		names[i] = v.Files[i].Name
	}
	return names
}

// Kept reports whether the version can be read at a time. It is removed a while
// after it cannot, so that whoever reads it can finish.
func (v *FeedVersion) Kept(at time.Time) bool { return v.StaleAt.IsZero() || v.StaleAt.After(at) }

// VersionChanges are what is different between a version and the one before.
type VersionChanges struct {
	// Rows is nil where the rows have no key.
	Rows    *RowChanges   `json:"rows"`
	Columns ColumnChanges `json:"columns"`
}

// RowChanges counts the rows that a version has and the one before had not, those
// with the same key and other values, and those that are gone.
type RowChanges struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"`
	Deleted  int64 `json:"deleted"`
}

// ColumnChanges name the columns that came, that went, and whose type is another.
type ColumnChanges struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Widened []string `json:"widened"`
}

// CompareColumns finds what is different between the columns of a version and
// those of the next.
func CompareColumns(before, after []Column) ColumnChanges {
	c := ColumnChanges{Added: []string{}, Removed: []string{}, Widened: []string{}}
	find := func(columns []Column, id string) int {
		return slices.IndexFunc(columns, func(c Column) bool { return c.ID == id })
	}
	for _, column := range after {
		switch at := find(before, column.ID); {
		case at < 0:
			c.Added = append(c.Added, column.Name)
		case before[at].Type != column.Type:
			c.Widened = append(c.Widened, column.Name)
		}
	}
	for _, column := range before {
		if find(after, column.ID) < 0 {
			c.Removed = append(c.Removed, column.Name)
		}
	}
	return c
}

// Keep says which versions of a feed are kept: the newest so many, and all that
// were made in the last so many days. The current one and those that are pinned
// always are. The zero value is [DefaultKeep].
type Keep struct {
	Versions int `json:"versions"`
	Days     int `json:"days"`
}

// DefaultKeep is what is kept of a feed that does not say.
var DefaultKeep = Keep{Versions: 10, Days: 7}

// The most that a feed can keep.
const (
	MaxKeepVersions = 10_000
	MaxKeepDays     = 3650
)

// Rule is what is kept.
func (k Keep) Rule() Keep {
	if k == (Keep{}) {
		return DefaultKeep
	}
	k.Versions = max(k.Versions, 1)
	return k
}

// For is how long versions are kept for their age.
func (k Keep) For() time.Duration { return time.Duration(k.Rule().Days) * 24 * time.Hour }

// KeepDeletedFor is how long the versions of a deleted feed stay, and any version
// that is not kept any more, so that whoever reads it can finish.
const KeepDeletedFor = time.Hour

// FeedProfile says what the values of a version are like.
type FeedProfile struct {
	RowCount int64           `json:"rowCount"`
	Columns  []ColumnProfile `json:"columns"`
}

// ColumnProfile says what the values of a column are like. Values are as JSON has them;
// what a type has not is null.
type ColumnProfile struct {
	ID    string `json:"id"`
	Nulls int64  `json:"nulls"`
	// Distinct is how many different values there are, counted where DistinctExact
	// says so and else estimated.
	Distinct      int64             `json:"distinct"`
	DistinctExact bool              `json:"distinctExact"`
	Min           json.RawMessage   `json:"min"`
	Max           json.RawMessage   `json:"max"`
	Mean          json.RawMessage   `json:"mean"`
	Quantiles     *ProfileQuantiles `json:"quantiles"`
	// Histogram has how many values are in each part of their range, and Top those
	// that most rows have.
	Histogram []ProfileBin   `json:"histogram"`
	Top       []ProfileValue `json:"top"`
	// MaxLength is how many characters the longest text has.
	MaxLength *int64 `json:"maxLength"`
	// Low and High are Min and Max on a line of numbers.
	Low  float64 `json:"-"`
	High float64 `json:"-"`
}

// ProfileQuantiles are values below which a quarter, a half and three quarters of all
// are, estimated.
type ProfileQuantiles struct {
	P25 json.RawMessage `json:"p25"`
	P50 json.RawMessage `json:"p50"`
	P75 json.RawMessage `json:"p75"`
}

// ProfileBin is a part of the range of values: from one on, and below the other but for the
// last part, which has its end.
type ProfileBin struct {
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
	Count int64           `json:"count"`
}

// ProfileValue is a value and how many rows have it.
type ProfileValue struct {
	Value json.RawMessage `json:"value"`
	Count int64           `json:"count"`
}
