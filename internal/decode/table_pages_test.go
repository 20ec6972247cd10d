package decode

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// What was found is that of the first page that has records, not of an empty one.
func TestFoundInPagesOfTables(t *testing.T) {
	pages := NewPages(Options{Temp: t.TempDir()}, func(*columnar.Cells) error { return nil })
	defer pages.Close()
	for _, page := range []string{"", "<r><o><id>1</id></o><o><id>2</id></o></r>", "<r><p><id>3</id></p><p><id>4</id></p></r>"} {
		if _, err := pages.Add(t.Context(), "xml", strings.NewReader(page)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := pages.Found().Path, (feedmill.Finding{Value: "/r/o", By: feedmill.ByFound}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
