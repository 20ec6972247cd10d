package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// A typo in a kind is the only fault, and names the kind that was probably meant.
func TestNearestKind(t *testing.T) {
	for _, test := range []struct{ definition, at, says string }{
		{`"pagination":{"kind":"cursors","path":"$.next","param":"after","more":"$.m"}`, "/pagination/kind", "Did you mean cursor?"},
		{`"pagination":{"kind":"nexturl","path":"$.next"}`, "/pagination/kind", "Did you mean nextUrl?"},
		{`"pagination":{"kind":"pages","size":5,"sizeParam":"n"}`, "/pagination/kind", "Did you mean page?"},
		{`"pagination":{"kind":"completely other","size":5}`, "/pagination/kind", "Must be one of none, nextUrl"},
		{`"pagination":{"size":5}`, "/pagination/kind", "required"},
		{`"auth":{"kind":"baerer","token":"s3cret"}`, "/auth/kind", "Did you mean bearer?"},
		{`"auth":{"kind":"oauth2clientcredentials","tokenUrl":"https://id.test","clientId":"a","clientSecret":"s3cret"}`, "/auth/kind", "Did you mean oauth2ClientCredentials?"},
	} {
		_, err := Parse([]byte(`{"request":{"url":"https://api.test/"},`+test.definition+`}`), 0)
		refusal, _ := errors.AsType[*feedmill.Error](err)
		if refusal == nil || len(refusal.Faults) != 1 || refusal.Faults[0].Pointer != test.at || !strings.Contains(refusal.Faults[0].Detail, test.says) || strings.Contains(refusal.Faults[0].Detail, "s3cret") {
			t.Errorf("%s: %+v", test.definition, refusal)
		}
	}
}
