package spec

import (
	"errors"
	"testing"

	"github.com/feedmill/feedmill"
)

// A parameter that has no place in the body is refused when the feed is defined.
func TestParametersWithoutAPlace(t *testing.T) {
	for _, test := range []struct{ body, pagination, at string }{
		{`{"page":5}`, `{"kind":"cursor","path":"$.n","param":"page.after","in":"body"}`, "/pagination/param"},
		{`{}`, `{"kind":"offset","param":"p.a","size":2,"sizeParam":"p","in":"body"}`, "/pagination/param"},
		{`{"page":null}`, `{"kind":"cursor","path":"$.n","param":"page.after","in":"body"}`, ""},
		{`{"a":[]}`, `{"kind":"cursor","path":"$.n","param":"/a/b","in":"body"}`, "/pagination/param"},
	} {
		_, err := Parse([]byte(`{"request":{"method":"POST","url":"https://api.test/","body":{"kind":"json","value":`+test.body+`}},"pagination":`+test.pagination+`}`), 0)
		refusal, _ := errors.AsType[*feedmill.Error](err)
		if (err == nil) != (test.at == "") || err != nil && (len(refusal.Faults) != 1 || refusal.Faults[0].Pointer != test.at) {
			t.Errorf("%s %s: %+v", test.body, test.pagination, refusal)
		}
	}
}
