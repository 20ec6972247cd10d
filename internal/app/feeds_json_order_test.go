package app

import (
	"strings"
	"testing"
)

// TestJSONComparesByValue uploads JSON whose members come in another order. The rows are unchanged, with and without a key.
func TestJSONComparesByValue(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	const first = "{\"k\":1,\"j\":[{\"b\":2,\"a\":1}]}\n{\"k\":2,\"j\":[3]}\n"
	const second = "{\"j\":[{\"a\": 1, \"b\": 2}],\"k\":1}\n{\"k\":2,\"j\":[3]}\n"
	const third = "{\"k\":1,\"j\":[{\"a\":1,\"b\":3}]}\n{\"k\":2,\"j\":[3]}\n"
	for _, query := range []string{"", "&mode=merge&key=k"} {
		f := s.upload(t, query, "application/x-ndjson", first)
		for version, data := range map[int64]string{1: second} {
			var again shownFeed
			s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data?format=ndjson"+query, "application/x-ndjson", data).data(t, &again)
			if again.Version != version || again.ContentHash != f.ContentHash {
				t.Errorf("%q: the same data is version %d", query, again.Version)
			}
		}
		var changed shownFeed
		s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data?format=ndjson"+query, "application/x-ndjson", third).data(t, &changed)
		if changed.Version != 2 {
			t.Errorf("%q: other data is version %d", query, changed.Version)
		}
	}
	// Rows of version 1 of the rules keep their order, and so do the numbers of all their digits.
	old := s.upload(t, "&rules=1", "application/x-ndjson", first)
	if got := s.read(t, old.ID, ""); !strings.Contains(got, `[{"b":2,"a":1}]`) {
		t.Errorf("version 1 of the rules reads %s", got)
	}
}

// TestWideningKeepsCharacters has columns that become text: rows that come keep what their source wrote, and those that are
// there the value that they have.
func TestWideningKeepsCharacters(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, test := range [][4]string{
		{"text/csv", "k,a\nx,1\n", "k,a\nz,1.50x\nw,0.10\n", `"1" "1.50x" "0.10"`},
		{"text/csv", "k,a\nx,1\n", "k,a\nz,31/12/2026\nw,30/11/2026\n", `"1" "31/12/2026" "30/11/2026"`},
		{"text/csv", "k,a\nx,1\n", "k,a\nz,$1234.50\nw,$1.10\n", `"1" "$1234.50" "$1.10"`},
		{"text/csv", "k,a\nx,abc\n", "k,a\nz,NA\nw,1.10\n", `"abc" "NA" "1.10"`},
		{"text/csv", "k,a\nx,1\n", "k,a\nz,TRUE\nw,False\n", `"1" "TRUE" "False"`},
		{"text/csv", "k,a\nx,2026-01-01\n", "k,a\nz,007\nw,1e5\n", `"2026-01-01" "007" "1e5"`},
		{"text/csv", "k,a\nx,1.5\n", "k,a\nz,5%\nw,12.50%\n", `"1.5" "5%" "12.50%"`},
		{"application/x-ndjson", "{\"a\":1}\n", "{\"a\":1.50}\n{\"a\":\"x\"}\n{\"a\":true}\n{\"a\":1e2}\n", `"1" "1.50" "x" "true" "1e2"`},
	} {
		f := s.upload(t, "", test[0], test[1])
		s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data?mode=append", test[0], test[2]).data(t, &f)
		var got []string
		for line := range strings.Lines(s.read(t, f.ID, "&fields=a")) {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), `{"a":`), "}"))
		}
		if text := strings.Join(got, " "); text != test[3] {
			t.Errorf("%q and %q are %s, want %s", test[1], test[2], text, test[3])
		}
	}
}
