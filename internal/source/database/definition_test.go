package database

import (
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// A stored definition is read as it was, although it would be refused today.
func TestStoredQueriesAreNotCheckedAgain(t *testing.T) {
	now := time.Unix(0, 0)
	for _, spec := range []string{
		`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}]},"unknown":1,"schedule":{"every":"1s"}}`,
		`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}],"limit":5},"incremental":{"field":"a"}}`,
		`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}]},"mode":"merge"}`,
		`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}]},"incremental":{"field":"a"},"mode":"replace"}`,
	} {
		if _, err := parse([]byte(spec), now); err == nil {
			t.Errorf("%s was accepted", spec)
		}
		d, err := parseStored([]byte(spec), now)
		if err != nil || d.service != "s" || len(d.query.Fields) != 1 {
			t.Errorf("%s: %+v, %v", spec, d, err)
		}
	}
	for _, spec := range []string{`{"viewName":"v"}`, `[]`, `{`, `{"serviceName":"s","viewName":"v","query":{"fields":1}}`} {
		if _, err := parseStored([]byte(spec), now); err == nil {
			t.Errorf("%s can be read", spec)
		}
	}
}

// An incremental query that replaces is refused, but a stored one can still be changed
// and keeps the mode that it has in fact.
func TestIncrementalQueriesDoNotReplace(t *testing.T) {
	const spec = `{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}]},"incremental":{"field":"a"}`
	source := Source{}
	refused := func(err error) bool {
		var problem *feedmill.Error
		return errors.As(err, &problem) && len(problem.Faults) == 1 && problem.Faults[0].Pointer == "/mode"
	}
	for _, end := range []string{`,"mode":"replace"}`, `,"mode":"replace","key":["a"]}`} {
		if _, err := source.Define([]byte(spec + end)); !refused(err) {
			t.Errorf("%s: %v", end, err)
		}
	}
	for end, mode := range map[string]feedmill.FeedMode{`}`: feedmill.ModeAppend, `,"mode":null}`: feedmill.ModeAppend, `,"key":["a"]}`: feedmill.ModeMerge} {
		if def, err := source.Define([]byte(spec + end)); err != nil || def.Mode != mode {
			t.Errorf("%s: %s, %v", end, def.Mode, err)
		}
	}
	stored := feedmill.Feed{Spec: []byte(spec + `,"mode":"replace","key":["a"]}`), Rules: feedmill.RulesFirst}
	for patch, mode := range map[string]feedmill.FeedMode{
		`{"schedule":{"every":"1h"}}`:            feedmill.ModeMerge,
		`{"key":null}`:                           feedmill.ModeAppend,
		`{"incremental":null}`:                   feedmill.ModeReplace,
		`{"incremental":null,"mode":"replace"}`:  feedmill.ModeReplace,
		`{"mode":"append","key":null}`:           feedmill.ModeAppend,
		`{"incremental":{"field":"a"},"key":[]}`: feedmill.ModeAppend,
	} {
		if def, _, err := source.Redefine(stored, nil, []byte(patch)); err != nil || def.Mode != mode {
			t.Errorf("%s: %s, %v", patch, def.Mode, err)
		}
	}
	if _, _, err := source.Redefine(stored, nil, []byte(`{"mode":"replace"}`)); !refused(err) {
		t.Error(err)
	}
	whole := feedmill.Feed{Spec: []byte(`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}]},"mode":"replace"}`), Rules: feedmill.RulesFirst}
	if _, _, err := source.Redefine(whole, nil, []byte(`{"incremental":{"field":"a"}}`)); !refused(err) {
		t.Error(err)
	}
}
