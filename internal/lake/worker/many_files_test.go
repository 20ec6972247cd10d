package worker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// TestVersionOfManyFiles reads a version that got its files faster than they were joined.
func TestVersionOfManyFiles(t *testing.T) {
	r, store := reader(t)
	column := feedmill.Column{ID: "c1", Name: "n", Type: columnar.TypeInteger}
	const files = 600
	v := one(t, store, "0", column, rat("0"))
	var want strings.Builder
	want.WriteString("n\n0\n")
	for i := 1; i < files; i++ {
		next := one(t, store, fmt.Sprint(i), column, rat(fmt.Sprint(i)))
		v.Files, v.Rows = append(v.Files, next.Files...), v.Rows+next.Rows
		fmt.Fprintf(&want, "%d\n", i)
	}
	if got := strings.ReplaceAll(string(read(t, r, v, feedmill.Query{}, wire.FormatCSV)), "\r\n", "\n"); got != want.String() {
		t.Errorf("%d bytes, want %d:\n%.200s", len(got), want.Len(), got)
	}
}
