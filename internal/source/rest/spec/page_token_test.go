package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// A place that could not be found is refused.
func TestTokenPlacesAreRefused(t *testing.T) {
	for _, path := range []string{`{}`, `{"header":"a","xml":"/b"}`, `{"xml":"b"}`, `{"xml":"/"}`, `{"xml":"/a//b"}`, `{"xml":"/@a"}`, `{"xml":"/a/@b/c"}`, `{"xml":"/a[1]"}`, `{"xml":"/a[@rel='']"}`, `{"other":"a"}`, `{"header":5}`} {
		_, err := Parse([]byte(`{"request":{"url":"https://api.test/"},"pagination":{"kind":"nextUrl","path":`+path+`}}`), 0)
		if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || !strings.HasPrefix(refusal.Faults[0].Pointer, "/pagination/path") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
