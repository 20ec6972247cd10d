package app

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

// shownChart is a chart as the API returns it.
type shownChart struct {
	Total  json.RawMessage
	Groups []struct {
		Value json.RawMessage
		Rows  int64
	}
	Series []struct {
		Value  json.RawMessage
		Others int64
		Values []json.RawMessage
	}
}

// chartLines is a chart as text: a line for each group.
func chartLines(c shownChart) (lines []string) {
	for i, g := range c.Groups {
		line := fmt.Sprintf("%s %d:", g.Value, g.Rows)
		for _, s := range c.Series {
			line += " " + string(s.Values[i])
		}
		lines = append(lines, line)
	}
	return lines
}

func TestChart(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "at,day,total,shop,paid\n"+
		"2026-01-31T23:30:00Z,2026-01-31,0.10,a,true\n2026-01-31T23:30:00Z,2026-02-01,0.20,b,true\n2026-04-01T00:00:00Z,2026-04-01,-3.05,a,false\n,,7.00,,\n")
	for _, test := range []struct {
		query, total string
		want         []string
	}{
		{"group=day:month&measure=total", "4.25", []string{`"2026-01-01" 1: 0.10`, `"2026-02-01" 1: 0.20`, `"2026-03-01" 0: 0`, `"2026-04-01" 1: -3.05`, `null 1: 7.00`}},
		{"group=day:month&measure=total&aggregate=max", "7.00", []string{`"2026-01-01" 1: 0.10`, `"2026-02-01" 1: 0.20`, `"2026-03-01" 0: null`, `"2026-04-01" 1: -3.05`, `null 1: 7.00`}},
		{"group=at:month", "4", []string{`"2026-01-01" 2: 2`, `"2026-02-01" 0: 0`, `"2026-03-01" 0: 0`, `"2026-04-01" 1: 1`, `null 1: 1`}},
		{"group=at:month&timezone=Europe/Paris", "4", []string{`"2026-02-01" 2: 2`, `"2026-03-01" 0: 0`, `"2026-04-01" 1: 1`, `null 1: 1`}},
		{"group=at:year&filter=paid:isTrue", "2", []string{`"2026-01-01" 2: 2`}},
		{"group=at:quarter&filter=shop:eq:nobody", "null", nil},
		{"group=shop&measure=total", "4.25", []string{`null 1: 7.00`, `"b" 1: 0.20`, `"a" 2: -2.95`}},
		{"group=shop&measure=shop", "3", []string{`"a" 2: 2`, `"b" 1: 1`, `null 1: 0`}},
		{"group=total&measure=total&aggregate=avg", "1.0625", []string{`-3.05 1: -3.05`, `0.10 1: 0.1`, `0.20 1: 0.2`, `7.00 1: 7`}},
		{"group=day:year&measure=total&split=shop", "4.25", []string{`"2026-01-01" 3: 0 0.20 -2.95`, `null 1: 7.00 0 0`}},
		{"group=day:year&measure=total&aggregate=countDistinct&split=paid", "4", []string{`"2026-01-01" 3: 2 1 0`, `null 1: 0 0 1`}},
	} {
		var c shownChart
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?" + test.query}).data(t, &c)
		if diff := cmp.Diff(test.want, chartLines(c)); diff != "" || string(c.Total) != test.total {
			t.Errorf("%s: total %s\n%s", test.query, c.Total, diff)
		}
	}
	for query, wanted := range map[string]string{
		"":                                       "group is required.",
		"group=nope":                             `There is no column "nope"`,
		"group=shop&measure=totl":                `There is no column "totl"; did you mean total?`,
		"group=shop:month":                       `"shop"`,
		"group=day:fortnight":                    "The period of group must be hour, day, week, month, quarter or year",
		"group=shop&aggregate=sum":               "measure is required with aggregate=sum",
		"group=shop&measure=day&aggregate=max":   "Use count or countDistinct",
		"group=shop&split=shop":                  "split must be another column than group.",
		"group=shop&measure=total&aggregate=mid": "aggregate must be sum, avg",
		"group=shop&kind=pie":                    "kind must be bar, line or area",
		"group=shop&timezone=Mars/Base":          "timezone is not a known time zone",
		"group=shop&filter=total:gt:x":           "Must be a number.",
		"group=shop&version=9":                   "no such version",
	} {
		got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?" + query})
		if got.status != 400 && got.status != 404 || !strings.Contains(got.body, strings.ReplaceAll(wanted, `"`, `\"`)) || strings.Contains(got.body, `column \"g\"`) || strings.Count(got.body, `"detail"`) > 2 {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// The greatest values have series of their own, and the others have one together.
func TestChartOthers(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var data strings.Builder
	data.WriteString("at,shop,total\n")
	for shop := range 12 {
		for range shop + 1 {
			fmt.Fprintf(&data, "2026-01-%02d,s%d,%d\n", shop+1, shop, 100-shop)
		}
	}
	data.WriteString("2026-02-01,,1\n")
	f := s.upload(t, "", "text/csv", data.String())
	read := func(query string) (c shownChart) {
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?" + query}).data(t, &c)
		return c
	}
	byRows := read("group=at:month&split=shop&measure=total&aggregate=avg")
	if n := len(byRows.Series); n != 9 || string(byRows.Series[0].Value) != `"s11"` || byRows.Series[8].Others != 5 {
		t.Fatalf("%d series: %+v", n, byRows.Series)
	}
	// The average of the others is that of their rows, and not of their averages.
	if got := chartLines(byRows); got[0] != `"2026-01-01" 78: 89 90 91 92 93 94 95 96 98` || got[1] != `"2026-02-01" 1: null null null null null null null null 1` {
		t.Error(got)
	}
	bySum := read("group=shop&split=at&measure=total")
	if string(bySum.Series[0].Value) != `"2026-01-12"` || bySum.Series[8].Others != 5 || string(bySum.Total) != "7229" {
		t.Errorf("%s %+v", bySum.Total, bySum.Series)
	}
}

func TestChartLimits(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var data strings.Builder
	data.WriteString("n,day,text\n")
	for i := range 10_001 {
		fmt.Fprintf(&data, "%d,2026-01-01,%s\n", i, strings.Repeat("x", 500))
	}
	data.WriteString("0,0001-01-01,y\n")
	f := s.upload(t, "", "text/csv", data.String())
	long := s.upload(t, "", "text/csv", "text\n"+strings.Repeat("a", 3<<20)+"\n"+strings.Repeat("b", 3<<20)+"\n")
	for path, wanted := range map[string]string{
		f.ID + "/chart?group=n":         "more than 10000 groups",
		f.ID + "/chart?group=day:day":   "periods without rows and more than 10000 groups",
		long.ID + "/chart?group=text":   "more than 4 MiB",
		f.ID + "/chart?group=day:month": "periods without rows",
	} {
		if got := s.send(t, request{method: "GET", path: "/data_feeds/" + path}); got.status != 422 || !strings.Contains(got.body, "/problems/chart-too-large") || !strings.Contains(got.body, wanted) {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
	}
	var c shownChart
	s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?group=n&filter=n:lt:10000"}).data(t, &c)
	if len(c.Groups) != 10_000 || string(c.Groups[9999].Value) != "9999" || c.Groups[0].Rows != 2 {
		t.Error(len(c.Groups))
	}
	accept := [][2]string{{"Accept", "image/svg+xml"}}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?group=n&filter=n:lt:401", header: accept}); got.status != 422 || !strings.Contains(got.body, "a picture can have at most 400") {
		t.Errorf("%d %.300s", got.status, got.body)
	}
	for _, kind := range []string{"bar", "line", "area"} {
		got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?group=n&split=day&filter=n:lt:300&kind=" + kind, header: accept})
		if got.header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(got.body, "Rows by n and day") {
			t.Errorf("%d %v %.300s", got.status, got.header, got.body)
		}
		for d := xml.NewDecoder(strings.NewReader(got.body)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v in %s", kind, err, got.body)
			}
		}
	}
}

// Infinite numbers and NaN are null in JSON. A chart refuses to mix them up with rows without a value.
func TestChartOfNumbersThatAreNotFinite(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "y", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues([]float64{1.5, 0, math.NaN(), math.Inf(1)}, []bool{true, false, true, true})
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"a", "b", "c", "d"}, nil)
	var data bytes.Buffer
	w := ipc.NewWriter(&data, ipc.WithSchema(schema))
	if err := errors.Join(w.Write(b.NewRecordBatch()), w.Close()); err != nil {
		t.Fatal(err)
	}
	f := s.upload(t, "", "application/vnd.apache.arrow.stream", data.String())
	for query, parameter := range map[string]string{"group=x": "group", "group=y&split=x": "split"} {
		got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?" + query})
		if got.status != 400 || !strings.Contains(got.body, `"parameter":"`+parameter+`"`) || !strings.Contains(got.body, "infinite numbers or NaN") {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	var c shownChart
	s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/chart?group=y&measure=x"}).data(t, &c)
	if len(c.Groups) != 4 {
		t.Errorf("%+v", c)
	}
}
