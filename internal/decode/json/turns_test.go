package json

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/share/sharetest"
)

// TestLongRecordsTakeTurns holds the reading of one large record to taking turns with other work, and to ending
// its turn before it hands the record on.
func TestLongRecordsTakeTurns(t *testing.T) {
	for name, open := range map[string]func(string) (*Table, error){
		"a document": func(text string) (*Table, error) {
			return Open(t.Context(), strings.NewReader("["+text+"]"), Options{})
		},
		"lines": func(text string) (*Table, error) { return OpenLines(t.Context(), strings.NewReader(text), Options{}) },
	} {
		j, err := open(`{"a":"` + strings.Repeat("x", longText) + `"}`)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
		sharetest.TakesTurns(t, name, func() {
			err := j.Each(t.Context(), 1, func(*columnar.Cells) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
