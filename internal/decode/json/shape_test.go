package json

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// TestShapes are tables that are not written as objects, and records beside others.
func TestShapes(t *testing.T) {
	for _, test := range []shapeCase{
		{"arrays with a header", `[["a","b"],[1,2],[3,4]]`, "$[*]", "a|b", "1|2\n3|4", ""},
		{"arrays without a header", `[[1,2],[3,4]]`, "$[*]", "column_1|column_2", "1|2\n3|4", "no-header"},
		{"arrays that differ in length", `[["a","b"],[1],[3,4,5]]`, "$[*]", "a|b|_extra_1", "1|∅|∅\n3|4|5", ""},
		{"names that stand twice", `[["a","a"],[1,2]]`, "$[*]", "a|a_2", "1|2", ""},
		{"Google Sheets", `{"range":"Sheet1!A1:B3","majorDimension":"ROWS","values":[["Name","Sum"],["x","1"],["y","2"]]}`, "$.values[*]", "Name|Sum", "x|1\ny|2", ""},
		{"columns and rows", `{"columns":["a","b"],"rows":[[1,2],[3,4]]}`, "$.rows[*]", "a|b", "1|2\n3|4", ""},
		{"columns with types", `{"columns":[{"name":"a","type":"int"},{"name":"b","type":"int"}],"rows":[[1,2],[3,4]]}`, "$.rows[*]", "a|b", "1|2\n3|4", ""},
		{"pandas split", `{"columns":["a","b"],"index":[0,1],"data":[[1,2],[3,4]]}`, "$.data[*]", "a|b", "1|2\n3|4", ""},
		{"pandas split with names of rows", `{"columns":["a"],"index":["x","y"],"data":[[1],[3]]}`, "$.data[*]", "_key|a", "x|1\ny|3", ""},
		{"pandas records", `[{"a":1,"b":2},{"a":3,"b":4}]`, "$[*]", "a|b", "1|2\n3|4", ""},
		{"pandas index", `{"0":{"a":1,"b":2},"1":{"a":3,"b":4}}`, "$[*]", "_key|a|b", "0|1|2\n1|3|4", ""},
		{"pandas columns", `{"a":{"0":1,"1":3},"b":{"0":2,"1":4}}`, "$[*]", "a|b", "1|2\n3|4", ""},
		{"pandas table", `{"schema":{"fields":[{"name":"index","type":"integer"},{"name":"a","type":"integer"}]},"data":[{"index":0,"a":1}]}`, "$.data[*]", "index|a", "0|1", ""},
		{"pandas list", `{"a":[1,3],"b":[2,null]}`, "$[*]", "a|b", "1|2\n3|", "column-arrays"},
		{"pandas tight", `{"index":[0,1],"columns":["a","b"],"data":[[1,2],[3,4]],"index_names":[null],"column_names":[null]}`, "$.data[*]", "a|b", "1|2\n3|4", ""},
		{"Open-Meteo", `{"latitude":52.5,"hourly_units":{"time":"iso8601","rain":"mm"},"hourly":{"time":[1,2,3,4,5,6,7,8,9,10],"rain":[1,2,3,4,5,6,7,8,9,0]}}`, "$.hourly[*]", "time|rain", "1|1\n2|2\n3|3\n4|4\n5|5\n6|6\n7|7\n8|8\n9|9\n10|0", ""},
		{"columns in an object of objects", `{"meta":{"unit":"C"},"daily":{"time":["x","y"],"rain":[1,2]}}`, "$.daily[*]", "time|rain", "x|1\ny|2", "column-arrays"},
		{"two tables of columns", `{"v":1,"hourly":{"t":[1,2,3],"c":[4,5,6]},"daily":{"t":[1,2],"c":[4,5]}}`, "$.hourly[*]", "t|c", "1|4\n2|5\n3|6", "column-arrays other-records"},
		{"a word beside columns", `{"c":[1,2,3,4,5,6,7,8,9,10],"s":"ok","t":[1,2,3,4,5,6,7,8,9,10]}`, "$[*]", "c|s|t", "1|ok|1\n2|ok|2\n3|ok|3\n4|ok|4\n5|ok|5\n6|ok|6\n7|ok|7\n8|ok|8\n9|ok|9\n10|ok|10", ""},
		{"lists of a record", `{"name":"x","tags":["a","b"],"sizes":[1,2]}`, "$", "name|tags|sizes", `x|["a","b"]|[1,2]`, ""},
		{"lists of different lengths", `{"tags":["a","b"],"sizes":[1,2,3]}`, "$", "tags|sizes", `["a","b"]|[1,2,3]`, ""},
		{"lists of one value", `{"tags":["a"],"sizes":[1]}`, "$", "tags|sizes", `["a"]|[1]`, ""},
		{"two lists of arrays", `{"prices":[[1,2],[3,4],[5,6]],"caps":[[1,5],[3,6]]}`, "$.prices[*]", "column_1|column_2", "1|2\n3|4\n5|6", "no-header other-records"},
		{"a header alone", `{"values":[["Name","Sum"]]}`, "$.values[*]", "", "", "no-rows"},
		{"null", `null`, "", "", "", "no-rows"},
		{"null instead of a list", `{"items":null,"total":0}`, "$.items[*]", "", "", "no-rows"},
		{"a value that is not known", `{"sensor":"x","value":null}`, "$", "sensor|value", "x|", ""},
		{"a member that is null", `{"AAPL":{"price":1},"GOOG":null,"MSFT":{"price":3}}`, "$[*]", "_key|price", "AAPL|1\nGOOG|∅\nMSFT|3", ""},
		{"escapes that only JSON has", `{"A\/B":{"price":1},"C":{"price":3}}`, "$[*]", "_key|price", "A/B|1\nC|3", ""},
		{"an object of objects", `{"AAPL":{"price":1,"volume":2},"MSFT":{"price":3}}`, "$[*]", "_key|price|volume", "AAPL|1|2\nMSFT|3|∅", ""},
		{"objects with nothing in common", `{"user":{"name":"x"},"settings":{"theme":"dark","size":2}}`, "$", "user.name|settings.theme|settings.size", "x|dark|2", ""},
		{"GeoJSON", `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"x"}}]}`, "$.features[*]", "type|geometry.type|geometry.coordinates|properties.name", "Feature|Point|[1,2]|x", ""},
		{"an invoice", `{"id":7,"customer":"x","total":5,"lines":[{"sku":"a"},{"sku":"b"}]}`, "$", "id|customer|total|lines", `7|x|5|[{"sku":"a"},{"sku":"b"}]`, ""},
		{"an invoice in an envelope", `{"data":{"id":7,"customer":"x","total":5,"lines":[{"sku":"a"}]}}`, "$.data", "id|customer|total|lines", `7|x|5|[{"sku":"a"}]`, ""},
		{"no invoice", `{"id":7,"lines":[{"sku":"a"},{"sku":"b"}]}`, "$.lines[*]", "sku", "a\nb", ""},
		{"side-cars", `{"errors":[{"code":1,"text":"a long text that says what is wrong"}],"items":[{"a":1}]}`, "$.items[*]", "a", "1", ""},
		{"nothing but a side-car", `{"errors":[{"code":1}]}`, "$.errors[*]", "code", "1", ""},
		{"JSON:API", `{"data":[{"id":"1","type":"x"}],"included":[{"id":"2","type":"y","attributes":{"name":"much longer than the data is"}}]}`, "$.data[*]", "id|type", "1|x", ""},
		{"two lists", `{"a":[{"x":1},{"x":2}],"b":[{"y":1}]}`, "$.a[*]", "x", "1\n2", "other-records"},
		{"a list deeper down", `{"page":1,"response":{"status":"ok","orders":[{"n":1},{"n":2}]}}`, "$.response.orders[*]", "n", "1\n2", ""},
		{"a name to be quoted", `{"my list":[{"n":1}]}`, "$['my list'][*]", "n", "1", ""},
	} {
		t.Run(test.name, func(t *testing.T) { test.check(t, nil) })
		if !test.columns() { // rows that stand in columns have to be held
			t.Run(test.name+", not held", func(t *testing.T) {
				test.check(t, &limits{field: usual.field, record: usual.record, tree: 1, emptyCells: usual.emptyCells, exploded: usual.exploded})
			})
		}
	}
}

// shapeCase is a table, and what is read of it.
type shapeCase struct{ name, data, path, names, rows, warnings string }

// columns reports whether the rows stand in columns.
func (test shapeCase) columns() bool {
	return test.name == "pandas columns" || test.name == "Open-Meteo" || test.name == "a word beside columns" || strings.HasPrefix(test.warnings, "column-arrays")
}

func (test shapeCase) check(t *testing.T, limits *limits) {
	table, err := Open(t.Context(), strings.NewReader(test.data), Options{Temp: t.TempDir(), limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows := decodetest.Rows(t, table)
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "|"))
	}
	var codes []string
	warnings, err := table.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		codes = append(codes, w.Code)
	}
	if got := strings.Join(table.Names(), "|"); got != test.names || strings.Join(lines, "\n") != test.rows {
		t.Errorf("read as %s\n%s", got, strings.Join(lines, "\n"))
	}
	if path := table.Found().Path.Value; path != test.path || strings.Join(codes, " ") != test.warnings {
		t.Errorf("path %s, warnings %v", path, codes)
	}
}

// TestRecordsStay gives a document whose records were found elsewhere before.
func TestRecordsStay(t *testing.T) {
	for _, test := range []struct {
		data string
		rows int64
	}{
		{`{"items":[],"tags":[{"a":1},{"a":2}]}`, 0},
		{`{"items":[],"total":0}`, 0},
		{`{"items":[{"a":1}],"tags":[{"a":1},{"a":2}]}`, 1},
		{`{"total":0}`, -1},
		{`null`, -1},
		{`{"items":{"a":[],"b":[]}}`, 0},
		{`{"items":{"a":[1],"b":[2]},"tags":[{"a":1},{"a":2}]}`, 1},
	} {
		table, err := Open(t.Context(), strings.NewReader(test.data), Options{Before: "$.items[*]", Temp: t.TempDir()})
		if err != nil {
			if test.rows >= 0 || !strings.Contains(err.Error(), "$.items[*]") {
				t.Errorf("%s: %v", test.data, err)
			}
			continue
		}
		if decodetest.Rows(t, table); table.Rows() != test.rows || table.Found().Path.Value != "$.items[*]" {
			t.Errorf("%s has %d rows at %s", test.data, table.Rows(), table.Found().Path.Value)
		}
	}
}

// TestColumnsByPath chooses between columns and the object that they are in.
func TestColumnsByPath(t *testing.T) {
	const data = `{"v":1,"hourly":{"t":[1,2,3],"c":[4,5,6]},"daily":{"t":[1],"c":[4]}}`
	for path, want := range map[string]string{
		"$.hourly[*]": "t|c: 1|4, 2|5, 3|6", "$.daily[*]": "t|c: 1|4", "$.daily": "t|c: [1]|[4]",
		"$": "v|hourly.t|hourly.c|daily.t|daily.c: 1|[1,2,3]|[4,5,6]|[1]|[4]",
	} {
		table, err := Open(t.Context(), strings.NewReader(data), Options{Path: path, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, row := range decodetest.Rows(t, table) {
			lines = append(lines, strings.Join(row, "|"))
		}
		if got := strings.Join(table.Names(), "|") + ": " + strings.Join(lines, ", "); got != want || table.Found().Path.Value != path {
			t.Errorf("%s reads %s at %s", path, got, table.Found().Path.Value)
		}
		_ = table.Close()
	}
}

// An object of very many objects is a table, too.
func TestManyMembersAreRows(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, `,"key %d":{"a":%d}`, i, i)
	}
	table, err := Open(t.Context(), strings.NewReader("{"+b.String()[1:]+"}"), Options{Temp: t.TempDir(), limits: &small})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if rows := decodetest.Rows(t, table); len(rows) != 40_000 || strings.Join(rows[39_999], "|") != "key 39999|39999" {
		t.Errorf("%d rows", len(rows))
	}
}

// What the rows take when they are written as objects is bounded, and a document that
// would have to be held, and is too long for it, is read as it is, with a word.
func TestShapesAreBounded(t *testing.T) {
	name := strings.Repeat("n", 1000)
	long := `[["` + name + `"]` + strings.Repeat(`,[1]`, 150_000) + `]`
	_, err := Open(t.Context(), strings.NewReader(long), Options{Temp: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "shorter names") {
		t.Error(err)
	}
	small := usual
	small.tree = 30
	for data, want := range map[string]string{`{"v":[["a"]],"v":[["a","b"],[1,2],[3,4]]}`: "rows are arrays", `{"price":{"0":1,"1":2},"size":{"0":3,"1":4}}`: "object of objects", `{"price":[1000,2000],"size":[3000,4000]}`: "array for each column"} {
		j, err := Open(t.Context(), strings.NewReader(data), Options{limits: &small})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readJSONRows(t, j, 1); err != nil {
			t.Fatal(err)
		}
		warnings, err := j.Warnings()
		if err != nil || len(warnings) == 0 || warnings[len(warnings)-1].Code != "unshaped-table" || !strings.Contains(warnings[len(warnings)-1].Detail, want) {
			t.Errorf("%s: %+v %v", data, warnings, err)
		}
		_ = j.Close()
	}
}
