package picture

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/client"
)

func texts(ticks []Tick) (all []string) {
	for _, t := range ticks {
		all = append(all, t.Text)
	}
	return all
}

func TestAxis(t *testing.T) {
	for _, test := range []struct {
		low, high  float64
		want, tiny string
	}{
		{0, 0, "0 1 2 3", "0 1 2 3"},
		{0, 661_515.82, "0 250 000 500 000 750 000", "0 250k 500k 750k"},
		{0, 286_000, "0 100 000 200 000 300 000", "0 100k 200k 300k"},
		{-30, 70, "−50 0 50 100", "−50 0 50 100"},
		{0, .0042, "0.0000 0.0015 0.0030 0.0045", "0.0000 0.0015 0.0030 0.0045"},
		{0, 7e9, "0 2.5G 5.0G 7.5G", "0 2.5G 5.0G 7.5G"},
		{-1e300, 0, "", ""},
	} {
		a := newAxis(test.low, test.high)
		spaced := func(short bool) string {
			return strings.ReplaceAll(strings.Join(texts(a.ticks(short)), " "), "\u202f", " ")
		}
		if test.want != "" && (spaced(false) != test.want || spaced(true) != test.tiny) {
			t.Errorf("%v to %v: %q, %q", test.low, test.high, spaced(false), spaced(true))
		}
		if n := len(a.ticks(false)); n < 3 || n > 6 {
			t.Errorf("%v to %v: %d lines", test.low, test.high, n)
		}
	}
}

// days is a chart of a number of periods.
func days(period string, from string, n int, step func(time.Time) time.Time) client.Chart {
	at, _ := time.Parse(time.DateOnly, from)
	c := client.Chart{Kind: "bar", Aggregate: "count", Group: "at", Period: &period, Timezone: "UTC", Series: []client.ChartSeries{{Value: json.RawMessage("null")}}}
	for i := range n {
		c.Groups = append(c.Groups, client.ChartGroup{Value: json.RawMessage(`"` + at.Format(time.DateOnly) + `"`)})
		c.Series[0].Values = append(c.Series[0].Values, json.RawMessage(fmt.Sprint(i)))
		at = step(at)
	}
	return c
}

func TestGroupTicks(t *testing.T) {
	month := func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
	day := func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	for _, test := range []struct {
		chart client.Chart
		width float64
		want  string
	}{
		{days("month", "2024-01-01", 35, month), 1136, "Jan 2024, Apr, Jul, Oct, Jan 2025, Apr, Jul, Oct, Jan 2026, Apr, Jul, Oct"},
		{days("month", "2024-01-01", 35, month), 300, "Jan 2024, Jan 2025, Jan 2026"},
		{days("day", "2026-01-01", 7, day), 1136, "1 Jan 2026, 2 Jan 2026, 3 Jan 2026, 4 Jan 2026, 5 Jan 2026, 6 Jan 2026, 7 Jan 2026"},
		{days("day", "2026-01-20", 60, day), 600, "26 Jan, 2 Feb, 9 Feb, 16 Feb, 23 Feb, 2 Mar, 9 Mar, 16 Mar"},
		{days("year", "1900-01-01", 127, func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }), 1000, "1900, 1910, 1920, 1930, 1940, 1950, 1960, 1970, 1980, 1990, 2000, 2010, 2020"},
	} {
		ticks := New(test.chart).GroupTicks(test.width)
		if diff := cmp.Diff(test.want, strings.Join(texts(ticks), ", ")); diff != "" {
			t.Error(diff)
		}
		for i := 1; i < len(ticks); i++ {
			if (ticks[i].At-ticks[i-1].At)*test.width < minSpacing {
				t.Errorf("%s and %s are too close", ticks[i-1].Text, ticks[i].Text)
			}
		}
	}
}

// A picture is XML whatever the names and values are.
func TestPictureOfAnything(t *testing.T) {
	column, split := "<a & \"b\">\x00", "s\ufffe"
	for _, kind := range Kinds {
		for _, values := range [][]string{nil, {"null"}, {"1", "null", "-5", "1e308"}, {"0", "0"}, {`"NaN"`, `"Infinity"`, "3"}} {
			c := client.Chart{Kind: kind, Measure: &column, Aggregate: "sum", Group: column, Split: &split, Timezone: "UTC", Series: make([]client.ChartSeries, 2)}
			for i, v := range values {
				c.Groups = append(c.Groups, client.ChartGroup{Value: json.RawMessage(`"<\u0000]]>"`), Incomplete: i%2 == 1})
				for k := range c.Series {
					c.Series[k].Value = json.RawMessage("null")
					c.Series[k].Values = append(c.Series[k].Values, json.RawMessage(v))
				}
			}
			picture := string(Draw(c))
			if strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") {
				t.Errorf("%s %v: %s", kind, values, picture)
			}
			for d := xml.NewDecoder(strings.NewReader(picture)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s %v: %v in %s", kind, values, err, picture)
				}
			}
		}
	}
}
