package database

import (
	"testing"
	"time"
)

// A stored definition is read as it was, although it would be refused today.
func TestStoredQueriesAreNotCheckedAgain(t *testing.T) {
	now := time.Unix(0, 0)
	for _, spec := range []string{
		`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}]},"unknown":1,"schedule":{"every":"1s"}}`,
		`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}],"limit":5},"incremental":{"field":"a"}}`,
		`{"serviceName":"s","viewName":"v","query":{"fields":[{"field":"a"}]},"mode":"merge"}`,
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
