package feed

import (
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
)

// remembering is how new data of a feed is read: what was found in the data that
// it has decides where the new data proves nothing, and where its records were
// they are.
func remembering(r feedmill.Reading, feed feedmill.Feed) feedmill.Reading {
	r.Before, r.Rules = feed.Found, r.Rules.Or(feed.Rules)
	if r.Rules == feedmill.RulesOriginal && !r.Before.Path.Known() {
		// The columns are all that the first release stored of where the records are.
		known := feedmill.RecordCandidate{}
		for _, c := range feed.Columns {
			known.Fields = append(known.Fields, c.SourceName)
		}
		r.Before.Candidates = []feedmill.RecordCandidate{known}
	}
	if !feed.CreatedAt.IsZero() {
		r.Year = feed.CreatedAt.Year()
	}
	return r
}

// rememberingUpload is remembering for an upload: what was once set stays set,
// unless this one says otherwise.
func rememberingUpload(r feedmill.Reading, feed feedmill.Feed) feedmill.Reading {
	r = remembering(r, feed)
	if path := feed.Found.Path; r.Path == "" && path.By == feedmill.BySet && leadsInto(path.Value, r.Format) {
		r.Path = path.Value
	}
	if sheet := feed.Found.Sheet; r.Sheet == 0 && sheet.By == feedmill.BySet && decode.HasSheets(r.Format) {
		r.Sheet, _ = strconv.Atoi(sheet.Value) // it was one
	}
	set := feed.Found.Set()
	for _, name := range feedmill.ReadingOptionNames {
		if given := r.Option(name); *given == "" {
			*given = *set.Option(name)
		}
	}
	return r
}

// leadsInto reports whether a path is one of documents in the format.
func leadsInto(path, format string) bool {
	switch format {
	case "json", "ndjson":
		return strings.HasPrefix(path, "$")
	case "xml": // a property list has paths as JSON has them
		return strings.HasPrefix(path, "/") || strings.HasPrefix(path, "$")
	}
	return decode.HasSheets(format) && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "$.")
}
