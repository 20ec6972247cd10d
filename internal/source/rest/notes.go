package rest

import (
	"fmt"
	"io"
	"net/http"

	"github.com/feedmill/feedmill"
)

// notes are what is to be said of the answers of a fetch, whatever feed reads them. They
// belong to the unit whose turn it is.
type notes struct {
	// more counts the answers after which there are others that nobody asks for, and
	// sign is how the first of them says so.
	more int64
	sign string
	// ended counts the times that the pages ended with answers that a rule ignores, of
	// which the first was this page, with this status.
	ended        int64
	page, status int
}

// warnings are the notes as warnings.
func (n *notes) warnings() (all []feedmill.Warning) {
	if n.more > 0 {
		all = append(all, feedmill.Warning{
			Code: feedmill.WarnMorePages, Count: n.more,
			Detail: fmt.Sprintf("the source says by %s that there is more than this answer, and nothing else was asked for; say with pagination how the next page is found", n.sign),
		})
	}
	if n.ended > 0 {
		all = append(all, feedmill.Warning{
			Code: feedmill.WarnIgnored, Count: n.ended,
			Detail: fmt.Sprintf("page %d was answered with %s, which a rule of errors ignores, and nothing says what comes after it; if that was not the last page, what follows is missing", n.page, statusText(n.status)),
		})
	}
	return all
}

// beside are the warnings of the notes after those of others, which may be nil.
func (n *notes) beside(others func() []feedmill.Warning) func() []feedmill.Warning {
	return func() (all []feedmill.Warning) {
		if others != nil {
			all = others()
		}
		return append(all, n.warnings()...)
	}
}

// noteMore notes an answer that says that there are more, where only one is asked for.
func (s *sequence) noteMore(a *answer, format string) {
	if s.spec.pagination.kind != pagesNone || s.spec.report != nil || s.job.Notes == nil {
		return
	}
	sign := ""
	switch {
	case nextLink(a.header.Values("Link")) != "":
		sign = "the header Link"
	case a.header.Get("X-Next-Page") != "":
		sign = "the header X-Next-Page"
	case format == "json" && a.size <= maxTree:
		sign = signOfMore(a.body, a.size)
	}
	if sign == "" {
		return
	}
	if s.job.Notes.more++; s.job.Notes.more == 1 {
		s.job.Notes.sign = sign
	}
}

// noteIgnored notes that the pages end with an answer that is ignored. A page that is not
// there is how many sources say that there are no more.
func (s *sequence) noteIgnored(a *answer) {
	switch a.status {
	case http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable:
		if s.spec.pagination.counts() {
			return
		}
	}
	if s.job.Notes == nil || a.last || a.step.number == 1 {
		return
	}
	if s.job.Notes.ended++; s.job.Notes.ended == 1 {
		s.job.Notes.page, s.job.Notes.status = a.step.number, a.status
	}
}

// The names by which sources say that there are more pages, and those of the objects at
// the top of a document in which they say it.
var (
	moreNames = nameSet(
		"next", "nextLink", "next_link", "@odata.nextLink", "odata.nextLink", "nextUrl", "next_url", "nextPage", "next_page", "nextPageUrl", "next_page_url",
		"nextPageToken", "next_page_token", "nextToken", "next_token", "NextToken", "nextCursor", "next_cursor", "nextRecordsUrl",
		"has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage", "isTruncated", "IsTruncated",
	)
	moreHolders = nameSet("links", "_links", "meta", "metadata", "response_metadata", "paging", "pagination", "page_info", "pageInfo")
)

func nameSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// signOfMore is the name by which a document says that there are more pages, empty where
// it does not. What is wrong with the document is found by whoever reads it.
func signOfMore(body io.ReaderAt, size int64) string {
	d := openDocument(body, size)
	if d.PeekKind() != '{' {
		return ""
	}
	sign, _ := signIn(d, "")
	return sign
}

// signIn is signOfMore in the object that comes next, which has this name before its
// members.
func signIn(d document, before string) (string, error) {
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
		case moreNames[known] && kind != '[':
			raw, err := d.ReadValue()
			if err != nil {
				return "", err
			}
			v := value{kind: kind, raw: raw, empty: kind == '{' && len(raw) == len("{}")}
			if v.affirmative() {
				return before + known, nil
			}
		case before == "" && moreHolders[known] && kind == '{':
			if sign, err := signIn(d, known+"."); sign != "" || err != nil {
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
