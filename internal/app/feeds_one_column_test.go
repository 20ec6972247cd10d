package app

import (
	"strings"
	"testing"
)

// TestOneColumnIsReadBack has tables of one column, in which a null is a blank line: the CSV of one has all rows when it is
// uploaded again.
func TestOneColumnIsReadBack(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, values := range []string{
		`"x"|null|""|"y"|null`, `1|null|2|null|null`, `null|1`, `null|null|1`, `""|""`, `null|null`, `null`, `"a"|"a"|"Source: x"`, `"NA"|"\n"|" x "|"# c"|"v"`,
		`"x, y"|"z, w"`, `"x, y"|"z, w"|null`, `"\"q\""|"v"|null`, `true|null`, `1.50|null`, `"2026-01-31"|null`, `"-"|null|"-"`, `"v"|"w"`, `"x;y"|"z;w"`, `"a\tb"|"c\td"|null`, `"2026-01-31T10:00:00Z"|null|"2026-01-31T11:00:00Z"`, `"a b c"|"d e f"`, `"'a'"|"'b'"`, `"k: v"|"l: w"`, `"Report"|null|"v"|"w"`,
	} {
		var rows strings.Builder
		for value := range strings.SplitSeq(values, "|") {
			rows.WriteString(`{"v":` + value + "}\n")
		}
		original := s.upload(t, "", "application/x-ndjson", rows.String())
		again := s.upload(t, "", "text/csv", s.export(t, original.ID, "csv"))
		got, want := s.read(t, again.ID, ""), s.read(t, original.ID, "")
		if got != want {
			t.Errorf("%s is written as %q and read as\n%swant\n%s", values, s.export(t, original.ID, "csv"), got, want)
		}
	}
	hand := s.upload(t, "", "text/csv", "v\n1\n2\n\n\n")
	if hand.RowCount != 2 {
		t.Errorf("blank lines below a header without quotes are %d rows", hand.RowCount-2)
	}
}
