package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Notes are what is to be said of the answers of a fetch, whatever feed reads them. They
// belong to the unit whose turn it is.
type Notes struct {
	// More counts the answers after which there are others that nobody asks for, and
	// Sign is how the first of them says so.
	More int64  `json:"more,omitempty"`
	Sign string `json:"sign,omitempty"`
	// Ended counts the times that the pages ended with answers that a rule ignores, of
	// which the first was this page, with this status.
	Ended  int64 `json:"ended,omitempty"`
	Page   int   `json:"page,omitempty"`
	Status int   `json:"status,omitempty"`
	// Same counts the pages that have the records of the first one in another answer, and
	// SamePage is the first of them.
	Same     int64 `json:"same,omitempty"`
	SamePage int   `json:"samePage,omitempty"`
	// Cut counts the lists inside records that have more pages, and Where is what says so
	// of the first.
	Cut   int64  `json:"cut,omitempty"`
	Where string `json:"where,omitempty"`
	// Error is how a response without records reports an error, empty where none does.
	Error string `json:"error,omitempty"`
	// Ignored counts the responses that a rule ignores, and Lacking the pages without
	// anything where the records are looked for.
	Ignored int64 `json:"ignored,omitempty"`
	Lacking int64 `json:"lacking,omitempty"`
}

// Partial is why a fetch may lack records that the source has, as the end of a sentence, or
// empty where it has them all.
func (n *Notes) Partial() string {
	switch {
	case n == nil:
	case n.More > 0:
		return "the source has more pages than were fetched"
	case n.Ignored > 0:
		return "a rule of errors ignored a response"
	case n.Same > 0:
		return "a later page repeats the records of the first one"
	case n.Cut > 0:
		return "lists inside the records have more elements than were fetched"
	case n.Lacking > 0:
		return "a page has nothing where the records are expected"
	case n.Error != "":
		return "a response looks like an error"
	}
	return ""
}

// soFar are the notes as they are now, nil where there are none.
func (n *Notes) soFar() *Notes {
	if n == nil || *n == (Notes{}) {
		return nil
	}
	now := *n
	return &now
}

// Warnings are the notes as warnings.
func (n *Notes) Warnings() (all []feedmill.Warning) {
	add := func(code string, count int64, detail string, said ...any) {
		if count > 0 {
			all = append(all, feedmill.Warning{Code: code, Count: count, Detail: fmt.Sprintf(detail, said...)})
		}
	}
	add(feedmill.WarnMorePages, n.More,
		"The source has more data than this response, as %s shows, and only this response was fetched. Set pagination to fetch the other pages.", n.Sign)
	add(feedmill.WarnIgnored, n.Ended,
		"The source returned %[2]s for page %[1]d, which a rule in errors ignores, so the fetch ended there. Later pages are missing if it was not the last page. Set pagination.total, totalPages or more if the source reports the number of pages.", n.Page, statusText(n.Status))
	add(feedmill.WarnRepeated, n.Same,
		"Page %d has the same records as the first page. If the source ignores the page parameter, records are missing. Check pagination.param and in.", n.SamePage)
	add(feedmill.WarnCutLists, n.Cut,
		"Lists inside the records have more elements than were fetched, as %s shows for the first one. Pagination does not cover such lists. Request more elements per record, or create a feed from the list with each.", n.Where)
	if n.Error != "" {
		add(feedmill.WarnPossibleError, 1,
			"The source returned no records and a response with %s, which looks like an error. Add a rule to errors that fails or ignores this response.", n.Error)
	}
	return all
}

// Beside are the warnings of the notes after those of others, which may be nil.
func (n *Notes) Beside(others func() []feedmill.Warning) func() []feedmill.Warning {
	return func() (all []feedmill.Warning) {
		if others != nil {
			all = others()
		}
		return append(all, n.Warnings()...)
	}
}

// noteMore notes an answer that says that there are more, where only one is asked for.
func (s *sequence) noteMore(a *answer, format string) {
	if s.spec.Pagination.Kind != spec.PagesNone || s.spec.Report != nil || s.job.Notes == nil {
		return
	}
	sign := signInHeader(a.status, a.header)
	switch {
	case sign != "" || a.size > find.MaxTree:
	case format == "xml":
		sign = signInXML(a.body, a.size)
	case format == "json":
		if sign = signOfMore(a.body, a.size, s.spec.Request.Body); sign == "" {
			sign = signOfTotal(a.body, a.size)
		}
		if sign == "" {
			sign = signOfToken(a.body, a.size)
		}
	}
	if sign == "" {
		return
	}
	if s.job.Notes.More++; s.job.Notes.More == 1 {
		s.job.Notes.Sign = sign
	}
}

// noteIgnored notes that the pages end with an answer that is ignored. A page that is not
// there is how many sources say that there are no more, which is believed where the last
// page with records had room for others.
func (s *sequence) noteIgnored(a *answer) {
	switch a.status {
	case http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable:
		if s.spec.Pagination.Counts() && s.last < max(s.most, s.spec.Pagination.Size) {
			return
		}
	}
	if s.job.Notes == nil || a.last || a.step.number == 1 {
		return
	}
	if s.job.Notes.Ended++; s.job.Notes.Ended == 1 {
		s.job.Notes.Page, s.job.Notes.Status = a.step.number, a.status
	}
}

// The names by which sources say that there are more pages, and those of the objects at
// the top of a document in which they say it.
var (
	moreNames = nameSet(
		"next", "nextLink", "next_link", "@odata.nextLink", "odata.nextLink", "nextUrl", "next_url", "nextPage", "next_page", "nextPageUrl", "next_page_url", "next_page_uri", "nextPageUri", "__next", "more_topics_url",
		"nextPageToken", "next_page_token", "nextToken", "next_token", "NextToken", "nextCursor", "next_cursor", "nextRecordsUrl",
		"has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage", "isTruncated", "IsTruncated",
	)
	moreHolders = nameSet("links", "_links", "meta", "metadata", "response_metadata", "paging", "pagination", "page_info", "pageInfo", "pages", "d", "topic_list")
)

func nameSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// signOfMore is the name by which a document says that there are more pages, empty where
// it does not. An answer of GraphQL says it beside the records, wherever these are. What is
// wrong with the document is found by whoever reads it.
func signOfMore(doc io.ReaderAt, size int64, asked *spec.Body) string {
	d := find.OpenDocument(doc, size)
	if d.PeekKind() != '{' {
		return ""
	}
	depth := 0
	if asked != nil && asked.Kind == spec.BodyGraphQL {
		depth = maxGraphQLDepth
	}
	sign, _ := signIn(d, "", depth, true)
	return sign
}

// maxGraphQLDepth is how many objects the one may stand in that says of an answer of
// GraphQL whether there are more, and maxHolders how many may stand in each other elsewhere.
const (
	maxGraphQLDepth = 12
	maxHolders      = 3
)

// signIn is signOfMore in the object that comes next, which has this name before its
// members. It is one that may say so, or has one in it: so many objects below whatever
// these are called.
func signIn(d find.Document, before string, depth int, says bool) (string, error) {
	if err := d.Bracket(); err != nil {
		return "", err
	}
	for d.PeekKind() != '}' {
		name, err := d.Name()
		if err != nil {
			return "", err
		}
		known, kind := string(name), d.PeekKind()
		switch {
		case says && namesNext(known) && kind != '[':
			raw, err := d.ReadValue()
			if err != nil {
				return "", err
			}
			v := find.Value{Kind: kind, Raw: raw, Empty: kind == '{' && len(raw) == len("{}")}
			if v.Affirmative() {
				return before + known, nil
			}
		case kind == '{' && (depth > 0 || moreHolders[known] && strings.Count(before, ".") < maxHolders):
			if sign, err := signIn(d, before+known+".", depth-1, moreHolders[known]); sign != "" || err != nil {
				return sign, err
			}
		default:
			if err := d.SkipValue(); err != nil {
				return "", err
			}
		}
	}
	return "", d.Bracket()
}
