package sheet

import (
	"fmt"
	"testing"
)

func TestFormatOf(t *testing.T) {
	for code, want := range map[string]numberFormat{
		"General": {}, "0.00": {}, "#,##0": {}, "0.00E+00": {}, `0.0 "kg"`: {}, `"total" 0`: {}, `[Red]0;[Blue]-0`: {}, `[>100]0;0`: {}, "": {}, `"`: {}, "[": {}, `\`: {}, "_": {},
		`[$€-407]\ #,##0.00`: {unit: "€"}, `#,##0.00\ [$€-407];[Red]\-#,##0.00\ [$€-407]`: {unit: "€"}, `_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-`: {unit: "€"},
		`"$"#,##0_);("$"#,##0)`: {unit: "$"}, `$#,##0.00`: {unit: "$"}, `\$0`: {unit: "$"}, `€0.00`: {unit: "€"}, `\€0.00`: {unit: "€"}, `[$US$-409]#,##0`: {unit: "US$"},
		`[$CHF-807] #,##0.00`: {unit: "CHF"}, `#,##0 "kr"`: {unit: "kr"}, `\E\U\R 0`: {unit: "EUR"}, `[$R$-416] 0`: {unit: "R$"}, `[$-409]0`: {}, `"€"0"$"`: {}, `[$zł-415]0`: {unit: "zł"},
		"yyyy-mm-dd": {kind: kindDate}, "MMM": {kind: kindDate}, "[$-409]d-mmm-yy;@": {kind: kindDate}, `yyyy"年"m"月"`: {kind: kindDate}, `"$"yyyy`: {kind: kindDate},
		"h:mm": {kind: kindTime}, "H:MM AM/PM": {kind: kindTime}, "mm:ss.0": {kind: kindTime}, "d/m/yy h:mm": {kind: kindDateTime},
		"[h]:mm": {kind: kindDuration, unit: "s"}, "[HH]:MM:SS": {kind: kindDuration, unit: "s"}, "[mm]:ss": {kind: kindDuration, unit: "s"}, "0%": {kind: kindPercent}, "0.0%;-0.0%": {kind: kindPercent},
	} {
		if got := formatOf(code); got != want {
			t.Errorf("%s is %+v, want %+v", code, got, want)
		}
	}
}

// TestFormatsOfColumns has columns of amounts and of durations, alone and beside something else.
func TestFormatsOfColumns(t *testing.T) {
	const styles = `<styleSheet ` + main + `><numFmts><numFmt numFmtId="164" formatCode="[$€-407] 0"/><numFmt numFmtId="165" formatCode="&quot;$&quot;0"/><numFmt numFmtId="166" formatCode="[h]:mm"/></numFmts>` +
		`<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs></styleSheet>`
	const plain, euros, dollars, hours = 0, 1, 2, 3
	type value struct {
		style int
		text  string
	}
	for name, test := range map[string]struct {
		cells [2]value
		want  string
	}{
		"amounts":                    {[2]value{{euros, "1.234"}, {euros, "-5"}}, `["h"] 2 ["€"]` + "\n  1.234\n  -5\n"},
		"amounts and a number":       {[2]value{{euros, "1.5"}, {plain, "2"}}, `["h"] 2` + "\n  1.5\n  2\n"},
		"amounts of two currencies":  {[2]value{{euros, "1.5"}, {dollars, "-2"}}, `["h"] 2` + "\n  ~€ 1.5\n  ~$ -2\n"},
		"durations":                  {[2]value{{hours, "1.5"}, {hours, "-0.25"}}, `["h"] 2 ["s"]` + "\n  129600\n  -21600\n"},
		"durations with less":        {[2]value{{hours, "0.00000578703703703704"}, {hours, "0"}}, `["h"] 2 ["s"]` + "\n  0.5\n  0\n"},
		"a duration and a number":    {[2]value{{hours, "1.5"}, {plain, "2"}}, `["h"] 2` + "\n  '36:00:00\n  2\n"},
		"a duration and an amount":   {[2]value{{hours, "1.5"}, {euros, "2"}}, `["h"] 2` + "\n  '36:00:00\n  ~€ 2\n"},
		"a duration past all bounds": {[2]value{{hours, "1e300"}, {hours, "1"}}, `["h"] 2` + "\n  1e+300\n  '24:00:00\n"},
		"numbers that are none":      {[2]value{{plain, "NaN"}, {euros, "inf"}}, `["h"] 2` + "\n  'NaN\n  'inf\n"},
	} {
		rows := `<row><c t="inlineStr"><is><t>h</t></is></c></row>`
		for _, v := range test.cells {
			rows += fmt.Sprintf(`<row><c s="%d"><v>%s</v></c></row>`, v.style, v.text)
		}
		data := workbook(t, rows, map[string]string{"xl/styles.xml": styles})
		if got := shownTable(t, "xlsx", data, Options{}); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A page of several says nothing of a whole column.
	rows := `<row><c t="inlineStr"><is><t>h</t></is></c><c t="inlineStr"><is><t>i</t></is></c></row><row><c s="1"><v>2</v></c><c s="3"><v>2</v></c></row>`
	if got := shownTable(t, "xlsx", workbook(t, rows, map[string]string{"xl/styles.xml": styles}), Options{Page: true}); got != `["h" "i"] 1`+"\n  2 | '48:00:00\n" {
		t.Error(got)
	}
}
