package api

import (
	"errors"
	"testing"

	"github.com/feedmill/feedmill"
)

// The name of a member or parameter at the beginning of a fault keeps its case.
func TestFaultSentences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault feedmill.Fault
		want  string
	}{
		{feedmill.Fault{Pointer: "/query/limit", Detail: "limit must be an integer"}, "limit must be an integer."},
		{feedmill.Fault{Pointer: "/query/limit", Detail: "the limit is too large"}, "The limit is too large."},
		{feedmill.Fault{Parameter: "fields", Detail: "fields must not be empty."}, "fields must not be empty."},
		{feedmill.Fault{Pointer: "/columns/ı", Detail: "ı is unknown"}, "I is unknown."},
		{feedmill.Fault{Detail: "row 2: a quote is missing"}, "Row 2: a quote is missing."},
	} {
		refusal, ok := errors.AsType[*feedmill.Error](inSentences(feedmill.Invalid("", c.fault)))
		if !ok || len(refusal.Faults) != 1 || refusal.Faults[0].Detail != c.want {
			t.Errorf("%+v becomes %+v, want %q", c.fault, refusal, c.want)
		}
	}
}
