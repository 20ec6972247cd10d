package csv

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/share/sharetest"
)

// TestLongTextsTakeTurns holds both readings of a text of one cell to taking turns with other work.
func TestLongTextsTakeTurns(t *testing.T) {
	c, err := openCSV(t, "a\n"+strings.Repeat("x", longText))
	if err != nil {
		t.Fatal(err)
	}
	sharetest.TakesTurns(t, "the first reading", func() { decodetest.Rows(t, c) })
	sharetest.TakesTurns(t, "a later reading", func() {
		if err := c.Read(t.Context(), 0, 1, func(*columnar.Cells) error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
}
