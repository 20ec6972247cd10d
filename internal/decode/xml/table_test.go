package xml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// tableCase is a document and the table that is read of it: the names of the columns, and the rows
// with a | between the cells.
type tableCase struct {
	name, document string
	options        Options
	names          string
	rows           []string
}

// readTable opens a document and reads it twice, in blocks of so many bytes.
func readTable(t testing.TB, document string, options Options) (names string, rows []string) {
	t.Helper()
	table, err := Open(t.Context(), strings.NewReader(document), options)
	if err != nil {
		t.Fatalf("%s\n%v", document, err)
	}
	defer table.Close()
	for pass := range 2 {
		var read []string
		for _, row := range decodetest.Rows(t, table) {
			read = append(read, strings.Join(row, "|"))
		}
		if pass > 0 && fmt.Sprint(read) != fmt.Sprint(rows) {
			t.Errorf("the second reading gives\n%s\nand the first\n%s", strings.Join(read, "\n"), strings.Join(rows, "\n"))
		}
		rows = read
	}
	return strings.Join(table.Names(), "|"), rows
}

func checkTable(t *testing.T, test tableCase) {
	t.Helper()
	for _, block := range []int64{0, 1, 50} {
		test.options.blockBytes = block
		names, rows := readTable(t, test.document, test.options)
		if names != test.names || strings.Join(rows, "\n") != strings.Join(test.rows, "\n") {
			t.Errorf("in blocks of %d: columns %s\n%s\nwant %s\n%s", block, names, strings.Join(rows, "\n"), test.names, strings.Join(test.rows, "\n"))
		}
	}
}

func TestTables(t *testing.T) {
	for _, test := range []tableCase{
		{"elements", `<r><o><a>1</a><b>x</b></o><o><b>y</b><c/></o></r>`, Options{}, "a|b|c", []string{"1|x|∅", "∅|y|"}},
		{"true and false", `<r><o><a><true/></a><t>1</t></o><o><a><false/></a><t>2</t><t><false/></t></o></r>`, Options{}, "a.true|t|a.false", []string{`true|[{"#text":"1"}]|∅`, `∅|[{"#text":"2"},{"false":false}]|false`}},
		{"attributes", `<r><o id="1" n="x"/><o id="2"/></r>`, Options{}, "@id|@n", []string{"1|x", "2|∅"}},
		{"flattened", `<r><o><a><b>1</b><c d="2"/></a></o><o><a><b>3</b></a></o></r>`, Options{}, "a.b|a.c.@d", []string{"1|2", "3|∅"}},
		{"text and attributes", `<r><o><p u="EUR">5</p></o><o><p>6</p></o></r>`, Options{}, "p.@u|p.#text", []string{"EUR|5", "∅|6"}},
		{"text of the record", `<r><o id="1">x</o><o id="2">y</o></r>`, Options{}, "@id|#text", []string{"1|x", "2|y"}},
		{
			"repeated texts", `<r><o><a>1</a><t>x</t><t>y "z"</t></o><o><a>2</a><t>w</t></o><o><a>3</a></o></r>`,
			Options{},
			"a|t",
			[]string{`1|["x","y \"z\""]`, `2|["w"]`, "3|∅"},
		},
		{
			"repeated objects", `<r><o><l n="1"><s>a</s></l><x/><l n="2"/><l/></o><o><l><s>b</s>t</l></o></r>`,
			Options{},
			"l|x",
			[]string{`[{"@n":"1","s":"a"},{"@n":"2"},null]|`, `[{"#text":"bt","s":"b"}]|∅`},
		},
		{"repeated inside", `<r><o><ls><l>1</l><l>2</l></ls></o><o><ls><l>3</l></ls></o></r>`, Options{}, "ls.l", []string{`["1","2"]`, `["3"]`}},
		{"mixed", `<r><o><p>Hello <b>big</b> world</p></o><o><p>plain</p></o></r>`, Options{}, "p.b|p.#text", []string{"big|Hello big world", "∅|plain"}},
		{"recursive", `<r><o><t><n>1</n><t><n>2</n></t></t></o><o><t><n>3</n></t></o></r>`, Options{}, "t", []string{`{"n":"1","t":{"n":"2"}}`, `{"n":"3"}`}},
		{
			"nil", `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><o><a xsi:nil="true"/><b>1</b></o><o><a xsi:type="x">2</a><b xsi:nil="false">3</b></o></r>`,
			Options{},
			"a|b",
			[]string{"|1", "2|3"},
		},
		{"white space", "<r>\n <o>\n  <a>\n x \n</a>\n <b xml:space='preserve'> y </b></o>\n <o><a> </a></o></r>", Options{}, "a|b", []string{"x| y ", "|∅"}},
		{"white space around", "<r xml:space='preserve'><o><a> x </a></o><o><a xml:space='default'> y </a></o></r>", Options{}, "a", []string{" x ", "y"}},
		{"references and sections", `<r><o><a>1 &lt; 2</a></o><o><a><![CDATA[<b>]]>!<!-- c -->?</a></o></r>`, Options{}, "a", []string{"1 < 2", "<b>!?"}},
		{"prefixes", `<r xmlns:d="u" xmlns:m="v"><o><d:a m:k="1">x</d:a></o><o><d:a>y</d:a></o></r>`, Options{}, "d:a.@m:k|d:a.#text", []string{"1|x", "∅|y"}},
		{"path", `<r><h><o><a>0</a></o></h><os><o><a>1</a></o></os></r>`, Options{Path: "/r/os/o"}, "a", []string{"1"}},
		{"path with a star", `<r><x><o><a>0</a></o></x><y><o><a>1</a></o></y></r>`, Options{Path: "/r/*/o"}, "a", []string{"0", "1"}},
		{"path of descendants", `<r><o><a>0</a><o><a>9</a></o></o><y><z><o><b>1</b></o></z></y></r>`, Options{Path: "//o"}, "a|o|b", []string{`0|{"a":"9"}|∅`, "∅|∅|1"}},
		{"path by prefix", `<r xmlns:p="u" xmlns:q="v"><p:o><a>0</a></p:o><q:o><a>1</a></q:o></r>`, Options{Path: "/r/q:o"}, "a", []string{"1"}},
		{"path by local name", `<r xmlns:p="u" xmlns:q="v"><p:o><a>0</a></p:o><q:o><a>1</a></q:o></r>`, Options{Path: "/r/o"}, "a", []string{"0", "1"}},
		{
			"explode", `<r><o><id>1</id><ls><l><s>a</s></l><l><s>b</s></l></ls><z>9</z></o><o><id>2</id></o></r>`,
			Options{Explode: "ls/l"},
			"id|ls.l.s|z",
			[]string{"1|a|9", "1|b|9", "2|∅|∅"},
		},
		{
			"explode twice", `<r><o><id>1</id><g k="x"><l>1</l><l>2</l></g><g k="y"><l>3</l></g><g k="z"/></o><o><id>2</id></o></r>`,
			Options{Explode: "g/l"},
			"id|g.@k|g.l",
			[]string{"1|x|1", "1|x|2", "1|y|3", "1|z|∅", "2|∅|∅"},
		},
		{
			"explode beside JSON", `<r><o><t>1</t><l><u>a</u><u>b</u></l><t>2</t><l><u>c</u></l></o><o><t>3</t></o></r>`,
			Options{Explode: "l"},
			"t|l.u",
			[]string{`["1","2"]|["a","b"]`, `["1","2"]|["c"]`, `["3"]|∅`},
		},
		{"nothing to explode", `<r><o><a>1</a></o><o><a>2</a></o></r>`, Options{Explode: "x/y"}, "a", []string{"1", "2"}},
		{"UTF-8 with a mark", "\ufeff<r><o><a>é</a></o><o><a>2</a></o></r>", Options{}, "a", []string{"é", "2"}},
		{"ISO-8859-1", "<?xml version='1.0' encoding='ISO-8859-1'?><r><o><a>\xe9</a></o><o><a>2</a></o></r>", Options{}, "a", []string{"é", "2"}},
		{"UTF-16", wide("\ufeff<?xml version='1.0' encoding='UTF-16'?><r><o><a>é</a></o><o><a>2</a></o></r>", true), Options{}, "a", []string{"é", "2"}},
		{"Shift_JIS", "<?xml version='1.0' encoding='Shift_JIS'?><r><o><a>\x93\xfa\x96{</a></o><o><a>2</a></o></r>", Options{}, "a", []string{"日本", "2"}},
		{
			"a workbook", `<?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="1"/><Style ss:ID="2"/></Styles><Worksheet ss:Name="Empty"><Table/></Worksheet>
<Worksheet ss:Name="A"><Table><Column/><Row><Cell><Data ss:Type="String">Name</Data></Cell><Cell><Data ss:Type="String">When</Data></Cell><Cell ss:Index="4"><Data ss:Type="String">Paid</Data></Cell></Row>
<Row/><Row><Cell><Data ss:Type="String">007</Data></Cell><Cell><Data ss:Type="DateTime">2024-01-31T00:00:00.000</Data></Cell><Cell><Data ss:Type="Number">1.5</Data></Cell><Cell><Data ss:Type="Boolean">1</Data></Cell></Row>
<Row><Cell ss:Index="2"><Data ss:Type="DateTime">2024-01-31T10:20:30.000</Data><Comment><Data>c</Data></Comment></Cell><Cell ss:MergeAcross="1"><Data ss:Type="Error">#N/A</Data></Cell><Cell><Data ss:Type="Number">9</Data></Cell></Row></Table></Worksheet>
<Worksheet ss:Name="B"><Table><Row><Cell><Data ss:Type="String">other</Data></Cell></Row></Table></Worksheet></Workbook>`,
			Options{},
			"Name|When||Paid|",
			[]string{"007|2024-01-31|1.5|true|∅", "∅|2024-01-31T10:20:30|#N/A|∅|9"},
		},
	} {
		t.Run(test.name, func(t *testing.T) { checkTable(t, test) })
	}
}
