package feed

import (
	"strings"
	"testing"
)

// Rows of a preview are whole, as many as there is room for.
func TestShownRows(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", 3<<20) + `"}`
	for _, test := range []struct {
		name string
		rows []string
		want int
	}{
		{"none", nil, 0},
		{"small", []string{`{"a":1}`, `{"a":2}`}, 2},
		{"large", []string{large, `{"a":1}`, large, large, `{"a":2}`}, 3},
		{"too large", []string{large + large + large, `{"a":1}`}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s shownRows
			text := strings.Join(append(test.rows, ""), "\n")
			for len(text) > 0 && !s.cut { // as a worker sends it
				n := min(len(text), 1<<20)
				if _, err := s.Write([]byte(text[:n])); (err != nil) != s.cut {
					t.Fatal(err)
				}
				text = text[n:]
			}
			got, n := s.array()
			if n != test.want || s.cut != (n < len(test.rows)) || string(got) != "["+strings.Join(test.rows[:test.want], ",\n")+"]\n" {
				t.Errorf("%d rows in %d bytes, cut %v", n, len(got), s.cut)
			}
		})
	}
}
