package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// A rule tests the value at its path in one of four ways; a value that is not there is not
// equal to anything.
func TestRules(t *testing.T) {
	for _, test := range []struct{ rule, matches, others string }{
		{`{"bodyPath":"$.e"}`, `{"e":"x"} {"e":1} {"e":true} {"e":[0]} {"e":{"a":0}}`, `{"e":null} {"e":false} {"e":0} {"e":""} {"e":[]} {"e":{}} {} [] e;1`},
		{`{"bodyPath":"$.e","exists":true}`, `{"e":null} {"e":false} {"e":0} {"e":""} {"e":[]}`, `{} [] {"f":1} e;1 1,2`},
		{`{"bodyPath":"$.e","exists":false}`, `{} {"f":{"e":1}} []`, `{"e":null} {"e":1} e;1 1,2 {"e"`},
		{`{"bodyPath":"$.e","equals":false}`, `{"e":false}`, `{"e":"false"} {"e":0} {"e":null} {} {"e":true}`},
		{`{"bodyPath":"$.e","equals":null}`, `{"e":null}`, `{"e":false} {} {"e":""}`},
		{`{"bodyPath":"$.e","equals":1}`, `{"e":1} {"e":1.0} {"e":10e-1}`, `{"e":"1"} {"e":1.0000000000000000000001} {"e":true} {}`},
		{`{"bodyPath":"$.e","equals":1e999999999}`, `{"e":1e999999999}`, `{"e":1e999999998} {"e":1}`},
		{`{"bodyPath":"$.e","equals":"erreür"}`, `{"e":"erreür"} {"e":"erre\u00fcr"}`, `{"e":"error"} {"e":["erreür"]} {}`},
		{`{"bodyPath":"$.e","notEquals":"ok"}`, `{"e":"no"} {"e":null} {"e":["ok"]} {} []`, `{"e":"ok"} e;1 1,2`},
		{`{"bodyPath":"$.e","notEquals":"ok","status":[200]}`, `{"e":"no"}`, `{"e":"ok"}`},
		{`{"bodyPath":"$.e","notEquals":"ok","status":[500]}`, ``, `{"e":"no"} {"e":"ok"}`},
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://api.test"},"errors":[`+strings.TrimSuffix(test.rule, "}")+`,"action":"fail"}]}`), 0)
		if err != nil {
			t.Fatal(test.rule, err)
		}
		r := &run{spec: d.Spec}
		for i, list := range []string{test.others, test.matches} {
			for body := range strings.FieldsSeq(list) {
				a, doc := new(answer), strings.NewReader(body)
				r.scan(t.Context(), a, doc, doc.Size())
				if _, got := r.ruleFor(200, a, doc); got != (i == 1) {
					t.Errorf("%s of %s: %v", test.rule, body, got)
				}
			}
		}
	}
}

// A rule that could be read in two ways, or in none, is refused.
func TestRulesAreRefused(t *testing.T) {
	for _, test := range []struct{ rule, at, says string }{
		{`{"status":[200],"equals":1,"action":"fail"}`, "/errors/0/equals", "set bodyPath too"},
		{`{"bodyPath":"$.a","equals":1,"notEquals":2,"action":"fail"}`, "/errors/0/notEquals", "one of exists"},
		{`{"bodyPath":"$.a","exists":"yes","action":"fail"}`, "/errors/0/exists", "true or false"},
		{`{"bodyPath":"$.a","exists":null,"action":"fail"}`, "/errors/0/exists", "true or false"},
		{`{"bodyPath":"$.a","equals":[1],"action":"fail"}`, "/errors/0/equals", "must be a text"},
	} {
		_, err := spec.Parse([]byte(`{"request":{"url":"https://api.test"},"errors":[`+test.rule+`]}`), 0)
		refusal, ok := errors.AsType[*feedmill.Error](err)
		if !ok || len(refusal.Faults) != 1 || refusal.Faults[0].Pointer != test.at || !strings.Contains(refusal.Faults[0].Detail, test.says) {
			t.Errorf("%s: %+v", test.rule, refusal)
		}
	}
}
