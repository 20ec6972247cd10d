package model

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// TestLocalTimes counts times that clocks skip or show twice.
func TestLocalTimes(t *testing.T) {
	for _, test := range []struct{ name, zone, times, want string }{
		{"skipped", "Europe/Paris", "2026-03-29 02:30:00|2026-03-29 03:00:00|2026-03-29 01:59:59", "nonexistent-local-time 1 1 2026-03-29T01:30:00Z"},
		{"skipped in the west", "America/New_York", "2026-03-08T02:00:00|2026-03-08T03:00:00", "nonexistent-local-time 1 1 2026-03-08T06:00:00Z"},
		{"twice", "Europe/Paris", "2026-01-01 00:00|2026-10-25 02:30|2026-10-25 02:00|2026-10-25 03:00|2026-10-25 01:59", "ambiguous-local-time 2 2 2026-10-25T01:30:00Z"},
		{"both", "Europe/Paris", "2026-10-25 02:30:00|2026-03-29 02:30:00", "nonexistent-local-time 1 2 2026-03-29T01:30:00Z ambiguous-local-time 1 1 2026-10-25T01:30:00Z"},
		{"with an offset", "Europe/Paris", "2026-03-29T02:30:00+01:00|2026-10-25T02:30:00Z", ""},
		{"the day first", "Europe/Paris", "29/03/2026 02:30|30/03/2026 02:30", "nonexistent-local-time 1 1 2026-03-29T01:30:00Z"},
		{"the month first", "Europe/Paris", "03/29/2026 02:30|10/03/2026 02:30", "nonexistent-local-time 1 1 2026-03-29T01:30:00Z"},
		{"an order of the other", "Europe/London", "31/10/2027 01:30|10/03/2027 01:30", "ambiguous-local-time 1 1 2027-10-31T01:30:00Z"},
		{"months with names", "Europe/Paris", "29 March 2026 02:30|1 Jan 2026 00:00", "nonexistent-local-time 1 1 2026-03-29T01:30:00Z"},
		{"midnight", "America/Sao_Paulo", "2017-10-15|2017-10-16 10:00:00", "nonexistent-local-time 1 1 2017-10-15T02:00:00Z"},
		{"days alone", "America/Sao_Paulo", "2017-10-15|2017-10-16", ""},
		{"without changes", "Asia/Tokyo", "2026-03-29 02:30:00", ""},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		inference := New(Options{Location: zone})
		for i, text := range strings.Split(test.times, "|") {
			cells := cellsOf(16, columnar.CellPlain, text)
			cells.First = int64(i)
			inference.Block(cells)
		}
		_, warnings := inference.Decide([]string{"at"}, feedmill.Findings{})
		var got []string
		for _, w := range warnings {
			_, read, _ := strings.Cut(w.Detail, "was read as ")
			read, _, _ = strings.Cut(read, ". ")
			got = append(got, fmt.Sprint(w.Code, " ", w.Count, " ", w.FirstRow, " ", read))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
	}
}

// TestLocalTimesLaw compares with all instants around a time: none of them shows it on a clock where it does not exist, and
// two where it occurs twice. Times come in any order, so that what is remembered of one must not hide another.
func TestLocalTimesLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/St_Johns", "Asia/Kathmandu", "Antarctica/Troll"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		clock := &localClock{location: zone}
		for range 1000 {
			at := time.Unix(random.Int64N(60*365*24*3600), 0).In(zone)
			if start, _ := at.ZoneBounds(); start.Year() >= 1970 && random.IntN(2) == 0 {
				at = start.Add(time.Duration(random.IntN(4*3600)-2*3600) * time.Second)
			}
			local := wallClock(at) + int64(random.IntN(3)-1)*1800
			shown := 0
			for offset := int64(-16 * 3600); offset <= 16*3600; offset += 60 {
				if wallClock(time.Unix(local-offset, 0).In(zone)) == local {
					shown++
				}
			}
			var found localTimes
			day := local / (24 * 3600)
			clock.note(&found, moment{day: day, micros: (local - day*24*3600) * 1e6, timed: true}, 0, nil)
			if int(found.gaps.count) != max(0, 1-shown) || int(found.overlaps.count) != max(0, shown-1) {
				t.Fatalf("%s: %v is shown %d times, and counted as %d and %d", name, time.Unix(local, 0).UTC().Format(time.DateTime), shown, found.gaps.count, found.overlaps.count)
			}
		}
	}
}
