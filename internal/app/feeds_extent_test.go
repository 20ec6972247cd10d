package app

import (
	"fmt"
	"strings"
	"testing"
)

// codes are the warnings of a feed, with the lines of their examples.
func (f shownFeed) codes() string {
	var all []string
	for _, w := range f.Warnings {
		text := w.Code
		for _, e := range w.Examples {
			text += fmt.Sprint(" ", e.Line)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestRowsBelowTables(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	const notes, tables = "name,n\nx,1\ny,2\n\nall that there is\n", "a,b\n1,2\n\nname,n,m\nx,1,2\n"
	put := func(f *shownFeed, query, data string) {
		t.Helper()
		s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data?"+query, "text/csv", data).data(t, f)
	}
	// A feed of an earlier release keeps its reading, and a new one has the new one.
	old, fresh := s.upload(t, "&rules=1", "text/csv", notes), s.upload(t, "", "text/csv", notes)
	if old.RowCount != 2 || old.codes() != "skipped-footer 5" || fresh.RowCount != 3 || fresh.codes() != "short-rows, blank-lines 4" {
		t.Errorf("%d %s, %d %s", old.RowCount, old.codes(), fresh.RowCount, fresh.codes())
	}
	put(&old, "", tables)
	put(&fresh, "", tables)
	if old.RowCount != 3 || fresh.RowCount != 1 || !strings.Contains(fresh.codes(), "second-table 4") {
		t.Errorf("%d %s, %d %s", old.RowCount, old.codes(), fresh.RowCount, fresh.codes())
	}
	// What was set stays for the uploads that follow.
	second := s.upload(t, "&table=2&footer=keep", "text/csv", tables)
	if second.types() != "name text, n integer, m integer" || second.RowCount != 1 || !strings.Contains(string(second.Source), `"table":{"value":"2","by":"set"}`) {
		t.Errorf("%s, %d rows, %s", second.types(), second.RowCount, second.Source)
	}
	put(&second, "", tables+"\nSource: z\n")
	if second.RowCount != 2 {
		t.Errorf("%d rows, %s", second.RowCount, second.codes())
	}
	got := s.sendData(t, "PUT", "/data_feeds/"+second.ID+"/data?table=3", "text/csv", tables)
	if p := got.problem(t); got.status != 400 || len(p.Errors) != 1 || p.Errors[0].Parameter != "table" {
		t.Errorf("%d %s", got.status, got.body)
	}
	text := s.upload(t, "", "text/csv", "name,city\nAnn,Rome\nBob,Oslo\n")
	if text.codes() != "assumed-header" || !strings.Contains(string(text.Source), `"header":{"value":1,"by":"assumed"}`) {
		t.Errorf("%s %s", text.codes(), text.Source)
	}
	lines := s.upload(t, "", "application/x-ndjson", `[{"a":1},{"a":2}]`)
	if lines.RowCount != 2 || lines.codes() != "other-format" {
		t.Errorf("%d rows, %s", lines.RowCount, lines.codes())
	}
}
