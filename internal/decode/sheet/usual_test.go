package sheet

import (
	"strings"
	"testing"
)

// TestUsualCells reads cells that are written as programs write them, and the same ones written otherwise, which are read
// token by token.
func TestUsualCells(t *testing.T) {
	for _, cells := range []string{
		`<c r="A2"><v>1</v></c><c r="B2" s="1"><v>45000</v></c><c r="C2" t="s"><v>1</v></c>`,
		`<c t="b" r="A2"><v>1</v></c><c r="C2" s="2"><v>0.125</v></c>`,
		`<c r="A2" s="1"/><c r="B2" t="e"><v>#N/A</v></c><c r="C2"><v>1E+30</v></c>`,
		`<c s="4"><v>1.5</v></c><c><v>2</v></c><c t="s"><v>9</v></c>`,
		`<c r="B2" t="str"><v>x:y</v></c><c r="C2" t="str"><v>a &amp; b</v></c>`,
		`<c r="A2" t="d"><v>2024-02-29</v></c><c r="B2"/>`,
		`<c r="A2" s="99"><v>3</v></c><c r="B2" s="x"><v>4</v></c>`,
		`<c r="A2" r="B2"><v>3</v></c>`, `<c r="A3"><v>3</v></c>`, `<c r="B2"><v>3</v></c><c r="A2"><v>3</v></c>`, `<c r="A2" s="1" s="2"/>`, `<c r="A2"><v>3</c>`,
	} {
		const head = `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c><c r="C1" t="inlineStr"><is><t>c</t></is></c></row><row r="2">`
		tables := make(map[string]bool)
		for _, other := range []string{cells, strings.ReplaceAll(cells, "<c", "<c\t"), strings.ReplaceAll(cells, `"`, "'"), strings.ReplaceAll(cells, "</c>", "</c >")} {
			got := shownTable(t, "xlsx", workbook(t, head+other+`</row>`, nil), Options{})
			before, _, _ := strings.Cut(got, "line 1") // Where a fault stands differs.
			tables[before] = true
		}
		if len(tables) != 1 {
			t.Errorf("%s is read as %v", cells, tables)
		}
	}
}

// TestUsualParagraphs is the same for the texts of ods.
func TestUsualParagraphs(t *testing.T) {
	for _, text := range []string{"x", "", "a &amp; b", "a]b", "a\nb", "</text:p><text:p>b", "<text:s/>", "a<text:span>b</text:span>", "a</text:p", "a<!-- -->b"} {
		tables := make(map[string]bool)
		for _, tag := range []string{"<text:p>", "<text:p >"} {
			got := shownTable(t, "ods", document(t, `<table:table table:name="One">`+odsHead+`<table:table-row><table:table-cell office:value-type="string">`+tag+text+`</text:p></table:table-cell>`+
				`<table:table-cell office:value-type="float" office:value="2">`+tag+text+`</text:p></table:table-cell></table:table-row></table:table>`, ""), Options{})
			before, _, _ := strings.Cut(got, "line 1")
			tables[before] = true
		}
		if len(tables) != 1 {
			t.Errorf("%s is read as %v", text, tables)
		}
	}
}
