package fetch

import (
	"context"
	"os"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Members of a response by which sources report an error with the status 200, in the order
// in which they are looked for.
var errorPaths = []*jsonpath.Path{find.MustPath("$.success"), find.MustPath("$.ok"), find.MustPath("$.status"), find.MustPath("$.error"), find.MustPath("$.errors")}

// errorSign is how a response reports an error, such as "success: false", empty where it
// does not.
func errorSign(found []find.Value) string {
	success, ok, status, failure, failures := found[0], found[1], found[2], found[3], found[4]
	text, _ := status.Text()
	switch {
	case success.Kind == 'f':
		return "success: false"
	case ok.Kind == 'f':
		return "ok: false"
	case strings.EqualFold(text, "error"):
		return "status: " + text
	case failure.IsSet():
		return "error"
	case failures.IsSet():
		return "errors"
	}
	return ""
}

// noteError notes the first response without records that reports an error. A page past the
// end is no such response: some sources refuse it.
func (s *sequence) noteError(ctx context.Context, a *answer, format string, records int64) {
	n := s.job.Notes
	if n != nil && records > 0 {
		n.Error = ""
	}
	if records > 0 || s.result.Records > 0 || format != "json" || n == nil || n.Error != "" || !s.spec.ChecksErrors() || a.step.number > 1 && s.spec.Pagination.Counts() {
		return
	}
	found, err := find.Values(ctx, a.body, a.size, errorPaths...)
	if err != nil {
		return // Whoever reads the records says why.
	}
	if n.Error = errorSign(found); n.Error != "" {
		s.suspect = shownAnswer(s.mask, a.request, a.status, s.spooled(a.start, a.size))
	}
}

// refuseError fails a fetch that brings no records and a response that reports an error, where
// a feed has rows, which would be lost.
func (r *run) refuseError() error {
	if r.result.Records > 0 || r.job.Notes == nil || r.job.Notes.Error == "" || !r.job.HadRows {
		return nil
	}
	if r.job.Stage != "" {
		_ = os.RemoveAll(r.job.Stage) // else the same response would come again; what is left is swept
	}
	failure := spec.Fail("possible-error", nil, "The source returned no records and a response with %s, so the feed keeps its rows. Fix the request, or add a rule to errors that describes this response.", r.job.Notes.Error)
	return with(failure, r.suspect)
}

// refuseFirst fails a first fetch whose response is an object that reports an error: without a
// path it would become a row.
func (s *sequence) refuseFirst(ctx context.Context, a *answer, format string) error {
	if !s.job.NoPath || format != "json" || s.spec.DefinedUnder == feedmill.RulesFirst {
		return nil
	}
	found, err := find.Values(ctx, a.body, a.size, errorPaths[:2]...)
	if err != nil || found[0].Kind != 'f' && found[1].Kind != 'f' {
		return nil
	}
	return spec.Fail("possible-error", nil, "The source returned a response with %s. Fix the request, set response.path, or add a rule to errors that describes this response.", errorSign(append(found, find.Value{}, find.Value{}, find.Value{})))
}
