package decode

import (
	"bytes"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestTitlesAndUnits has titles with more cells than the table below them, headers that are
// repeated in other quotes, and rows of units with columns that have none.
func TestTitlesAndUnits(t *testing.T) {
	const table = "id,name,amount\n1,Ann,10.5\n2,Bob,20\n3,Cid,7\n"
	const rows = "id|name|amount 1|Ann|10.5 2|Bob|20 3|Cid|7"
	const padded = "id,name,amount,,\n1,Ann,10.5,,\n2,Bob,20,,\n3,Cid,7,,\n"
	const paddedRows = "id|name|amount|| 1|Ann|10.5|| 2|Bob|20|| 3|Cid|7||"
	for _, test := range []struct {
		name, text     string
		rules          feedmill.Rules
		want, warnings string
	}{
		{"a title that is wider", "Acme, Inc., Sales, in EUR, unaudited\n" + table, 2, rows, "skipped-preamble 1"},
		{"a title with a date", "Report;As of;01.02.2024;Page;1\nname;sum\nx;12,50\ny;13,70\nz;9,10\n", 2, "name|sum x|12,50 y|13,70 z|9,10", "skipped-preamble 1"},
		{"pairs that are wider", "Report,,,,,Secret,,Page 1\nRegion: EMEA,,,,Year:,2024,,\n\n" + table, 2, rows, "skipped-preamble 1 2"},
		{"a title of a spreadsheet", "Report,,,Secret,Page 1\nRegion:,EMEA,,,\n,,,,\n" + padded, 2, paddedRows, "skipped-preamble 1 2 3"},
		{"names of columns without values", "id,name,amount,note,more\n1,Ann,10.5\n2,Bob,20\n3,Cid,7\n", 2, "id|name|amount|note|more 1|Ann|10.5|| 2|Bob|20|| 3|Cid|7||", "short-rows"},
		{"units below such names", "name,length,mass,note\nunit,m,kg\nrod,1.5,20\nbar,2.5,30\n", 2, "name|length|mass|note unit|m|kg| rod|1.5|20| bar|2.5|30|", "short-rows"},
		{"a wider table above another", "a,b,c,d\np,q,r,s\nt,u,v,w\n\n" + table, 2, "a|b|c|d p|q|r|s t|u|v|w", "second-table 5,blank-lines 4"},
		{"a wider title, of version 1", "Acme, Inc., Sales, in EUR, unaudited\n" + table, 1, "Acme|Inc.|Sales|in EUR|unaudited id|name|amount|| 1|Ann|10.5|| 2|Bob|20|| 3|Cid|7||", "short-rows"},

		{"a header again, in quotes", "id,n\n1,2\n\"id\",\"n\"\n3,4\nid,n\n5,6\n", 2, "id|n 1|2 3|4 5|6", "repeated-header 3 5"},
		{"a header again, without quotes", "\"id\",\"a, b\"\n\"1\",\"2\"\nid,\"a, b\"\n\"3\",\"4\"\n", 2, "id|a, b 1|2 3|4", "repeated-header 3"},
		{"a header again, without spaces", "id, n\n1,2\nid,n\n3,4\n", 2, "id|n 1|2 3|4", "repeated-header 3"},
		{"a header again, with quotes in names", "\"the \"\"id\"\"\",n\n1,2\n\"the \"\"id\"\"\",\"n\"\n3,4\n", 2, "the \"id\"|n 1|2 3|4", "repeated-header 3"},
		{"a header again, of version 1", "id,n\n1,2\n\"id\",\"n\"\n3,4\n", 1, "id|n 1|2 id|n 3|4", ""},

		{"a printed table, and blank lines below it", "+----+---+\n| id | n |\n+----+---+\n|  1 | 2 |\n|  3 | 4 |\n+----+---+\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", 2, "id|n 1|2 3|4", "skipped-rule 1"},
		{"a column without a unit", "name,length,mass\n-,m,kg\nrod,1.5,20\nbar,2.5,30\n", 2, "name|length|mass rod|1.5|20 bar|2.5|30", "skipped-units 2"},
		{"two dashes", "name,length,mass\n--,°C,%\nrod,1.5,20\nbar,2.5,30\n", 2, "name|length|mass rod|1.5|20 bar|2.5|30", "skipped-units 2"},
		{"no units but dashes", "name,length,mass\n-,-,-\nrod,1.5,20\nbar,2.5,30\n", 2, "name|length|mass -|-|- rod|1.5|20 bar|2.5|30", ""},
		{"a letter that is a unit", "name,sex,age\n-,m,-\nAnn,f,30\nBob,m,40\n", 2, "name|sex|age -|m|- Ann|f|30 Bob|m|40", ""},
		{"a column without a unit, of version 1", "name,length,mass\n-,m,kg\nrod,1.5,20\nbar,2.5,30\n", 1, "name|length|mass -|m|kg rod|1.5|20 bar|2.5|30", ""},
	} {
		got, warnings := readAll(t, "csv", test.text, Options{Rules: test.rules})
		if got := strings.Join(got, " "); got != test.want || strings.Join(warnings, ",") != test.warnings {
			t.Errorf("%s is %q %q, want %q %q", test.name, got, warnings, test.want, test.warnings)
		}
	}
}

// TestUnitsOfNone holds that a column has no description where its unit is a dash.
func TestUnitsOfNone(t *testing.T) {
	opened, err := Open(t.Context(), "csv", bytes.NewReader([]byte("name,length,n\n-,m,--\nrod,1.5,20\nbar,2.5,30\n")), Options{Rules: 2, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if got := strings.Join(opened.(interface{ Units() []string }).Units(), "|"); got != "|m|" {
		t.Errorf("the units are %q", got)
	}
}

// TestQualtrics has the rows that Qualtrics writes below the names.
func TestQualtrics(t *testing.T) {
	const names, questions, ids = "StartDate,Q1,Q2\n", "Start Date,How old are you?,\"Any\ncomment?\"\n", "\"{\"\"ImportId\"\":\"\"startDate\"\",\"\"timeZone\"\":\"\"UTC\"\"}\",\"{\"\"ImportId\"\":\"\"QID1\"\"}\",\"{\"\"ImportId\"\":\"\"QID2\"\"}\"\n"
	const rows = "2024-01-02,34,Nice\n2024-01-03,41,Good\n"
	for _, test := range []struct {
		name, text, want, warnings string
		rules                      feedmill.Rules
		header                     string
	}{
		{"two rows", names + questions + ids + rows, "StartDate|Q1|Q2 2024-01-02|34|Nice 2024-01-03|41|Good", "skipped-descriptions 2 4", 2, ""},
		{"one row", names + questions + ids + "2024-01-02,34,Nice\n", "StartDate|Q1|Q2 2024-01-02|34|Nice", "skipped-descriptions 2 4", 2, ""},
		{"ids alone", names + ids + rows, "StartDate|Q1|Q2 2024-01-02|34|Nice 2024-01-03|41|Good", "skipped-descriptions 2", 2, ""},
		{"no answers", names + questions + ids, "StartDate|Q1|Q2", "skipped-descriptions 2 4,no-rows", 2, ""},
		{"ids in one column alone", "a,b\nx,\"{\"\"ImportId\"\":\"\"q\"\"}\"\ny,2\n", "a|b x|{\"ImportId\":\"q\"} y|2", "", 2, ""},
		{"by version 1 of the rules", names + ids + rows, "StartDate|Q1|Q2 {\"ImportId\":\"startDate\",\"timeZone\":\"UTC\"}|{\"ImportId\":\"QID1\"}|{\"ImportId\":\"QID2\"} 2024-01-02|34|Nice 2024-01-03|41|Good", "", 1, ""},
		{"a header that is set", names + ids + rows, "StartDate|Q1|Q2 {\"ImportId\":\"startDate\",\"timeZone\":\"UTC\"}|{\"ImportId\":\"QID1\"}|{\"ImportId\":\"QID2\"} 2024-01-02|34|Nice 2024-01-03|41|Good", "", 2, "1"},
	} {
		got, warnings := readAll(t, "csv", test.text, Options{Rules: test.rules, ReadingOptions: feedmill.ReadingOptions{Header: test.header}})
		if strings.Join(got, " ") != test.want || strings.Join(warnings, ",") != test.warnings {
			t.Errorf("%s is %q %q, want %q %q", test.name, got, warnings, test.want, test.warnings)
		}
	}
	table, err := Open(t.Context(), "csv", strings.NewReader(names+questions+ids+rows), Options{Rules: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if got := strings.Join(table.Units(), "|"); got != "Start Date|How old are you?|Any\ncomment?" {
		t.Errorf("the columns are described as %q", got)
	}
}
