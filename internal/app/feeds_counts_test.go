package app

import (
	"fmt"
	"strings"
	"testing"
)

// rowCounts is what a refresh reports of its rows.
type rowCounts struct{ RowsIn, RowsStored, RowsRejected, RowsSuperseded, RowsKnown int64 }

// lastCounts are the counts of the last refresh of a feed, which add up.
func (s *service) lastCounts(t *testing.T, id string) rowCounts {
	t.Helper()
	all := fetch[[]rowCounts](t, s, 200, request{method: "GET", path: "/data_feeds/" + id + "/refreshes?limit=1"})
	if c := all[0]; c.RowsIn != c.RowsStored+c.RowsRejected+c.RowsSuperseded+c.RowsKnown {
		t.Errorf("the counts do not add up: %+v", c)
	}
	return all[0]
}

// duplicateKeys are the warnings of duplicate keys, with their counts and examples.
func duplicateKeys(f shownFeed) (all []string) {
	for _, w := range f.Warnings {
		if w.Code != "duplicate-keys" {
			continue
		}
		text := fmt.Sprintf("%s %d from %d:", w.Column, w.Count, w.FirstRow)
		for _, e := range w.Examples {
			text += fmt.Sprintf(" %d=%s", e.Row, e.Value)
		}
		all = append(all, text)
	}
	return all
}

func TestRowCounts(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var body strings.Builder
	body.WriteString("id,line,n\n")
	for i := range 1000 {
		fmt.Fprintf(&body, "%d,%d,%d\n", i%3, i%2, i)
	}
	f := s.upload(t, "&mode=merge&key=id", "text/csv", body.String())
	other := s.upload(t, "&mode=merge&key=id,line", "text/csv", body.String())
	if got, want := s.lastCounts(t, f.ID), (rowCounts{1000, 3, 0, 997, 0}); got != want || f.RowCount != 3 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := duplicateKeys(f); len(got) != 1 || got[0] != "id 997 from 1: 1=0 2=1 3=2" {
		t.Errorf("warnings: %q", got)
	}
	if got := duplicateKeys(other); len(got) != 1 || got[0] != " 994 from 1: 1=0, 0 2=1, 1 3=2, 0" || other.RowCount != 6 {
		t.Errorf("warnings: %q", got)
	}
	put := func(f *shownFeed, query, csv string) []string {
		t.Helper()
		s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data?"+query, "text/csv", csv).data(t, f)
		return duplicateKeys(*f)
	}
	// Of the rows that come, one is there already, one replaces another, two are one, and one is new.
	warned := put(&f, "mode=merge", "id,line,n\n0,1,999\n1,9,9\n7,1,1\n7,1,2\n8,1,1\n")
	if got, want := s.lastCounts(t, f.ID), (rowCounts{5, 3, 0, 1, 1}); got != want || len(warned) != 1 || warned[0] != "id 1 from 3: 3=7" {
		t.Errorf("%+v, want %+v; %q", got, want, warned)
	}
	// The same data once more is known.
	put(&f, "mode=merge", "id,line,n\n0,1,999\n1,9,9\n")
	if got, want := s.lastCounts(t, f.ID), (rowCounts{2, 0, 0, 0, 2}); got != want || f.Version != 2 {
		t.Errorf("%+v, want %+v; version %d", got, want, f.Version)
	}
	// A load that replaces stores every row, and warns that the key is none.
	warned = put(&f, "mode=replace", "id,line,n\n1,1,1\n2,1,1\n1,1,2\n")
	if got, want := s.lastCounts(t, f.ID), (rowCounts{3, 3, 0, 0, 0}); got != want || f.RowCount != 3 || len(warned) != 1 || warned[0] != "id 1 from 1: 1=1" {
		t.Errorf("%+v, want %+v; %q", got, want, warned)
	}
	if warned = put(&f, "mode=replace", "id,line,n\n1,1,1\n2,1,1\n"); len(warned) != 0 {
		t.Errorf("warnings of keys that are different: %q", warned)
	}
	// Rejected rows are not superseded as well.
	columns := `&columns=[{"sourceName":"n","type":"integer","onMisfit":"reject"}]`
	warned = put(&f, "mode=merge"+columns, "id,line,n\n5,1,x\n5,1,1\n5,1,2\n")
	if got, want := s.lastCounts(t, f.ID), (rowCounts{3, 1, 1, 1, 0}); got != want || len(warned) != 1 || warned[0] != "id 1 from 0: 0=5" {
		t.Errorf("%+v, want %+v; %q", got, want, warned)
	}
}
