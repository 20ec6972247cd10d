package pattern_test

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/pattern"
)

func TestPatternsAreBounded(t *testing.T) {
	for _, test := range []struct {
		name, pattern, fault string
	}{
		{"plain", `^[a-z]+@(example|test)\.com$`, ""},
		{"repeated", `^\d{1,300}(x{20}){10}$`, ""},
		{"not a pattern", `(`, "missing closing"},
		{"long", strings.Repeat("a", pattern.MaxBytes+1), "4097 bytes"},
		{"as long as it may be", strings.Repeat("a", pattern.MaxBytes), ""},
		{"repetitions in each other", `(abcdefghijklmnop){700}`, "10000 steps"},
		{"open end", `(abcdefghijklmnop){700,}`, "10000 steps"},
		{"side by side", strings.Repeat(`(a|b){1000}`, 20), "10000 steps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := pattern.Check(test.pattern)
			switch {
			case test.fault == "" && err != nil:
				t.Error(err)
			case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)):
				t.Errorf("got %v, want an error with %q", err, test.fault)
			}
		})
	}
}
