package rest

import (
	"strings"
	"testing"
)

// What is said of a page that is no data names the formats that there are.
func TestReadableFormatsAreNamed(t *testing.T) {
	for _, name := range pageFormats.Readable().Names() {
		if !strings.Contains(strings.ToUpper(readable), strings.ToUpper(name)) {
			t.Errorf("%q does not name %s", readable, name)
		}
	}
}
