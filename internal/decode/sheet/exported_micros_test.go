package sheet

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestExportedTimes is a law: times of microseconds up to 2079 come back from the numbers that they
// are written as.
func TestExportedTimes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		days, micros := 61+random.Int64N(microsecondDays-61), random.Int64N(msPerDay*1000)
		want := time.UnixMicro((days-25569)*msPerDay*1000 + micros).UTC()
		n := float64(days*msPerDay*1000+micros) / (msPerDay * 1000)
		if micros%1000 == 0 || n >= microsecondDays {
			continue
		}
		got, _ := appendExportedTime(nil, n)
		if !hasMicroseconds(n) || string(got) != want.Format("2006-01-02T15:04:05.000000") {
			t.Fatalf("%v is %s, want %s", n, got, want)
		}
	}
	if hasMicroseconds(45000.5) || hasMicroseconds(math.Inf(1)) || hasMicroseconds(microsecondDays+0.1234567891) {
		t.Error("a time without microseconds has some")
	}
	// Another program's number is rounded to milliseconds.
	const head = `<row r="1"><c r="A1" t="inlineStr"><is><t>h</t></is></c></row>`
	book := workbook(t, head+`<row r="2"><c r="A2" s="3"><v>45293.127837077</v></c></row>`, nil)
	if got := shownTable(t, "xlsx", book, Options{Rules: 2}); !strings.Contains(got, "@2024-01-02T03:04:05.123\n") {
		t.Errorf("the time is %s", got)
	}
}
