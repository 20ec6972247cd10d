package feedmill

import (
	"slices"
	"strconv"
)

// FeedType says where the data of a feed comes from.
type FeedType string

// The types of feeds. Outside of the packages of sources, the wiring and the client, code asks
// for a property of [FeedKind] instead of comparing with one of them.
const (
	FeedUpload FeedType = "dataUpload"
	FeedQuery  FeedType = "queryBuilder"
	FeedREST   FeedType = "rest"
)

// FeedKind describes the feeds of a type.
type FeedKind struct {
	Type FeedType
	// Title is the name of the type on pages, and Body says what the body of a request
	// to create such a feed contains.
	Title, Body string
	// Fetched says that the data is fetched from a source, and Shared that several feeds can
	// be built from one source.
	Fetched, Shared bool
	// Connected says that the host of the source can be the id of a connection.
	Connected bool

	label func(labelSpec) string
}

// FeedKinds are the types of feeds that can be created.
var FeedKinds = []FeedKind{
	{Type: FeedUpload, Title: "Upload", Body: "the body is the data", label: func(s labelSpec) string {
		if s.File != "" && s.Sheet > 1 {
			return s.File + ", sheet " + strconv.Itoa(s.Sheet)
		}
		return s.File
	}},
	{Type: FeedREST, Title: "REST", Body: "the body defines the requests", Fetched: true, Shared: true, label: func(s labelSpec) string {
		text, _ := s.Request.URL.(string)
		return hostAndPath(text)
	}},
	{Type: FeedQuery, Title: "Query", Body: "the body is a query", Fetched: true, Connected: true, label: func(s labelSpec) string {
		return s.ServiceName + " · " + s.ViewName
	}},
}

// Kind describes the feeds of the type. It is zero for a type that does not exist.
func (t FeedType) Kind() FeedKind {
	if i := slices.IndexFunc(FeedKinds, func(k FeedKind) bool { return k.Type == t }); i >= 0 {
		return FeedKinds[i]
	}
	return FeedKind{}
}

// HasSource reports whether feeds of the type have their data fetched from a
// source.
func (t FeedType) HasSource() bool { return t.Kind().Fetched }

// ConnectedType is the type of feeds that query a connection.
func ConnectedType() FeedType {
	return FeedKinds[slices.IndexFunc(FeedKinds, func(k FeedKind) bool { return k.Connected })].Type
}
