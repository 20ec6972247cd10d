package rest

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// Members of a response by which sources report an error with the status 200, in the order
// in which they are looked for.
var errorPaths = []*jsonpath.Path{mustPath("$.success"), mustPath("$.ok"), mustPath("$.status"), mustPath("$.error"), mustPath("$.errors")}

// checksErrors reports whether a fetch without records is checked for errors that no rule
// describes. A rule that ignores responses shows that the user has decided what is one.
func (s *Spec) checksErrors() bool {
	return s.definedUnder > feedmill.RulesFirst && !slices.ContainsFunc(s.rules, func(r rule) bool { return r.action == actionIgnore })
}

// errorSign is how a response reports an error, such as "success: false", empty where it
// does not.
func errorSign(found []value) string {
	success, ok, status, failure, failures := found[0], found[1], found[2], found[3], found[4]
	text, _ := status.text()
	switch {
	case success.kind == 'f':
		return "success: false"
	case ok.kind == 'f':
		return "ok: false"
	case strings.EqualFold(text, "error"):
		return "status: " + text
	case failure.isSet():
		return "error"
	case failures.isSet():
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
	if records > 0 || s.result.Records > 0 || format != "json" || n == nil || n.Error != "" || !s.spec.checksErrors() || a.step.number > 1 && s.spec.pagination.counts() {
		return
	}
	found, err := find(ctx, a.body, a.size, errorPaths...)
	if err != nil {
		return // Whoever reads the records says why.
	}
	if n.Error = errorSign(found); n.Error != "" {
		s.suspect = s.mask.said(a.request, a.status, s.spooled(a.start, a.size))
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
	failure := fail("possible-error", nil, "The source returned no records and a response with %s, so the feed keeps its rows. Fix the request, or add a rule to errors that describes this response.", r.job.Notes.Error)
	return with(failure, r.suspect)
}

// refuseFirst fails a first fetch whose response is an object that reports an error: without a
// path it would become a row.
func (s *sequence) refuseFirst(ctx context.Context, a *answer, format string) error {
	if !s.job.NoPath || format != "json" || s.spec.definedUnder == feedmill.RulesFirst {
		return nil
	}
	found, err := find(ctx, a.body, a.size, errorPaths[:2]...)
	if err != nil || found[0].kind != 'f' && found[1].kind != 'f' {
		return nil
	}
	return fail("possible-error", nil, "The source returned a response with %s. Fix the request, set response.path, or add a rule to errors that describes this response.", errorSign(append(found, value{}, value{}, value{})))
}

// hadRows reports whether a feed of a fetch has rows already.
func hadRows(feeds []feedmill.Feed) bool {
	return slices.ContainsFunc(feeds, func(f feedmill.Feed) bool { return f.RowCount > 0 })
}
