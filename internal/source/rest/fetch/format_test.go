package fetch

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// What is said of a page that is no data names the formats that there are.
func TestReadableFormatsAreNamed(t *testing.T) {
	for _, name := range spec.PageFormats.Readable().Names() {
		if !strings.Contains(strings.ToUpper(readable), strings.ToUpper(name)) {
			t.Errorf("%q does not name %s", readable, name)
		}
	}
}
