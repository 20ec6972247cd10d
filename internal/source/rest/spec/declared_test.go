package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// The text that secrets are shown as is no secret: a definition that was read and sent again
// lacks its secrets.
func TestMaskedSecretsAreRefused(t *testing.T) {
	for _, test := range []struct{ definition, at string }{
		{`"auth":{"kind":"bearer","token":"***"}`, "/auth/token"},
		{`"auth":{"kind":"basic","username":"ada","password":"***"}`, "/auth/password"},
		{`"auth":{"kind":"login","request":{"url":"https://id.test","body":{"kind":"form","value":"***"}},"tokenPath":"$.t"}`, "/auth/request/body/value"},
		{`"each":{"in":{"request":{"url":"https://api.test/list","headers":{"X-Key":"***"}}},"as":"row"}`, "/each/in/request/headers/X-Key"},
		{`"job":{"id":"$.id","poll":{"url":"https://api.test","headers":{"X-Any":{"secret":"***"}}},"state":"$.s","done":["x"]}`, "/job/poll/headers/X-Any"},
	} {
		url := "https://api.test/{{row.id}}"
		if !strings.Contains(test.definition, "each") {
			url = "https://api.test/"
		}
		_, err := Parse([]byte(`{"request":{"url":"`+url+`"},`+test.definition+`}`), 0)
		refusal, _ := errors.AsType[*feedmill.Error](err)
		if refusal == nil || len(refusal.Faults) != 1 || refusal.Faults[0].Pointer != test.at {
			t.Errorf("%s: %+v", test.definition, refusal)
		}
	}
	for _, request := range []string{`"url":"https://api.test/?api_key=***"`, `"url":"https://api.test/","query":{"api_key":["a","***"]}`, `"url":{"secret":"***"}`} {
		if _, err := Parse([]byte(`{"request":{`+request+`}}`), 0); err == nil {
			t.Errorf("%s was taken", request)
		}
	}
	if _, err := Parse([]byte(`{"request":{"url":"https://api.test/?q=***"}}`), 0); err != nil {
		t.Error(err)
	}
}
