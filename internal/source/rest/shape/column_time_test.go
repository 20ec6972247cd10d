package shape

import (
	"testing"
)

// TestTypedBooleans holds that only true and false are booleans, whether they are texts or not.
func TestTypedBooleans(t *testing.T) {
	for raw, want := range map[string]string{`true`: "true", `"false"`: "false", `"true"`: "true", `"yes"`: "", `1`: "", `null`: "null", `[]`: ""} {
		got, err := typed([]byte(raw), "boolean")
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s is %s, %v, want %s", raw, got, err, want)
		}
	}
}
