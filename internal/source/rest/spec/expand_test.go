package spec

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// A long name that has many values, or many secrets below it, is not written out for each of them.
func TestLongNamesOfDefinitions(t *testing.T) {
	long := strings.Repeat("n", 200_000)
	secret := `{"secret":"x"}`
	many := strings.Repeat(secret+",", 5000) + secret
	for _, c := range []struct{ request, pointer, says string }{
		{`"query":{"` + long + `":["a"]}`, "/request/query", "at most 1024 bytes; got 200000"},
		{`"headers":{"` + long + `":"a"}`, "/request/headers", "at most 1024 bytes"},
		{`"method":"POST","body":{"kind":"form","value":{"` + long + `":"a"}}`, "/request/body/value", "at most 1024 bytes"},
		{`"query":{"` + long + `":[` + many + `]}`, "/request/query", "at most 200 values"},
		{`"method":"POST","body":{"kind":"json","value":{"` + long + `":[` + many + `]}}`, "/request/body", "paths of at most 2048 bytes"},
		{`"method":"POST","body":{"kind":"json","value":{"` + long + `":[` + strings.Repeat("1,", 5000) + `1]}}`, "/request/body/value", "at most 2048 bytes in total"},
		{`"method":"POST","body":{"kind":"graphql","query":"{a}","variables":{"` + long + `":[` + strings.Repeat("1,", 5000) + `1]}}`, "/request/body/variables", "at most 2048 bytes in total"},
		{`"query":{"a":[` + many + `]}`, "/request/query", "at most 200 values"},
	} {
		body := []byte(`{"request":{"url":"https://api.test/",` + c.request + `}}`)
		before := new(runtime.MemStats)
		runtime.ReadMemStats(before)
		_, err := Parse(body, 0)
		after := new(runtime.MemStats)
		runtime.ReadMemStats(after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 {
			t.Errorf("%.60s takes %d MiB", c.request, took>>20)
		}
		refusal, ok := errors.AsType[*feedmill.Error](err)
		if !ok || len(refusal.Faults) == 0 || refusal.Faults[0].Pointer != c.pointer || !strings.Contains(refusal.Faults[0].Detail, c.says) || len(fmt.Sprint(err)) > 100_000 {
			t.Errorf("%.60s: %.500v", c.request, err)
		}
	}
	if _, err := Parse([]byte(`{"request":{"url":"https://api.test/","query":{"`+long[:maxParamName]+`":[`+strings.Repeat(secret+",", maxDeclared-1)+secret+`]}}}`), 0); err != nil {
		t.Errorf("as many as there may be: %.500v", err)
	}
}
