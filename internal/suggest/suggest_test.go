package suggest

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"metric.created", "metric.updated", "tag.created", "name"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"metric.create", []string{"metric.created", "metric.updated"}},
		{"nmae", []string{"name"}},
		{"NAME", []string{"name"}},
		{"something else entirely", nil},
		{strings.Repeat("x", 10_000), nil},
	} {
		if got := Nearest(c.name, known); !slices.Equal(got, c.want) {
			t.Errorf("Nearest(%.20q) = %q, want %q", c.name, got, c.want)
		}
	}
}
