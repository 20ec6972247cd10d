package model

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/share/sharetest"
)

// TestLargeCellsTakeTurns holds the work for a few large cells to taking turns as that for many small ones.
func TestLargeCellsTakeTurns(t *testing.T) {
	text := strings.Repeat("x", longTexts)
	run := func() *columnar.Cells {
		return &columnar.Cells{Rows: 1, Columns: 1, Data: []byte(text), Cell: []columnar.Cell{columnar.NewCell(columnar.CellPlain, 0, len(text))}}
	}
	inference := New(Options{})
	sharetest.TakesTurns(t, "scanning a large cell", func() { inference.Block(run()) })
	schema, _ := inference.Decide([]string{"a"}, feedmill.Findings{})
	sharetest.TakesTurns(t, "converting a large cell", func() {
		if err := schema.Convert(run(), make([]columnar.Vector, 1)); err != nil {
			t.Fatal(err)
		}
	})
}
