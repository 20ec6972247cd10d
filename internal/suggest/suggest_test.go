package suggest

import (
	"slices"
	"strings"
	"testing"
)

func TestNearestIsBounded(t *testing.T) {
	many := make([]string, 100_000)
	for i := range many {
		many[i] = "name" + strings.Repeat("x", i%50)
	}
	many[maxCandidates] = "meant"
	if near := Nearest("maent", many); slices.Contains(near, "meant") || len(near) > maxNear {
		t.Errorf("of very many names all are looked at: %q", near)
	}
	long := strings.Repeat("a", maxLength+1)
	if near := Nearest(long, []string{long}); near != nil {
		t.Errorf("a name that is longer than any is near to %q", near)
	}
}

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
