package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// readingScenarios are those of files whose sender says how they are written, and
// of formats that the first release did not read.
func readingScenarios() []scenario {
	return []scenario{
		{name: "options-csv", since: lastRelease, steps: []step{
			{params: "format=csv&delimiter=%7C&quote=~&header=2&nulls=none,-&decimal=,&dates=mdy&timezone=Europe/Paris", data: "a title\nid|amount|day|at|word\n1|1.234,5|01/02/2026|2026-07-01 10:00|~a|b~\n2|none|03/04/2026|2026-12-01 10:00|-\n"},
			{params: "format=csv", data: "another title\nid|amount|day|at|word\n3|7,25|05/06/2026|2026-07-01 10:00|NA\n"},
			{params: "format=csv&mode=append", data: "a title\nid|amount|day|at|word\n4|8|07/08/2026|2026-01-01 00:00|~c|d~\n"},
		}},
		{name: "options-no-header", since: lastRelease, steps: []step{
			{params: "format=csv&header=none&nulls=none", data: "Ann,NA\nBob,-\n"},
			{params: "format=csv", data: "Cy,1\nDi,2\n"},
			{params: "format=csv&mode=append", data: "Ed,3\n"},
		}},
		{name: "options-header-line", since: lastRelease, steps: []step{
			{params: "format=csv&header=1", data: "1,2\n3,4\n"},
			{params: "format=csv", data: "1,2\n5,6\n\nSource: the bureau,\n"},
		}},
		{name: "options-encoding", since: lastRelease, steps: []step{
			{params: "format=csv&encoding=windows-1251&delimiter=tab", data: "id\tname\n1\t\xcc\xee\xf1\xea\xe2\xe0\n"},
			{params: "format=csv", data: "id\tname\n2\t\xca\xe8\xe5\xe2\n"},
		}},
		{name: "options-decimal", since: lastRelease, steps: []step{
			{params: "format=csv&decimal=.", data: "id,amount,fee\n1,\"1,234\",\"2,000.5\"\n2,\"5,678\",1\n"},
			{params: "format=csv", data: "id,amount,fee\n3,\"9,876\",\"3,000\"\n"},
			{params: "format=csv&mode=append&decimal=,", data: "id,amount,fee\n4,\"1,5\",\"2,5\"\n"},
		}},
		{name: "options-dates", since: lastRelease, steps: []step{
			{params: "format=csv&dates=dmy", data: "id,day,born\n1,01/02/2026,01/02/45\n2,03/04/2026,05/06/80\n"},
			{params: "format=csv", data: "id,day,born\n3,05/06/2026,07/08/30\n"},
			{params: "format=csv&mode=append&dates=mdy", data: "id,day,born\n4,12/31/2026,12/31/20\n"},
		}},
		{name: "options-columns", since: lastRelease, steps: []step{
			{params: "format=csv&columns=%5B%7B%22sourceName%22:%22zip%22,%22type%22:%22integer%22,%22name%22:%22Post%20code%22%7D,%7B%22sourceName%22:%22n%22,%22type%22:%22integer%22,%22onMisfit%22:%22reject%22%7D%5D", data: "zip,n,secret\n01234,1,x\n98765,x,y\n"},
			{params: "format=csv", data: "zip,n,secret\n00001,2,x\n00002,two,y\n"},
			{params: "format=csv&mode=append", data: "zip,n,secret\n00003,3,z\n"},
		}},
		{name: "options-freeze", since: lastRelease, steps: []step{
			{params: "format=csv", data: "id,n\n1,1\n"},
			{patch: `{"schemaPolicy":"freeze"}`, params: "format=csv", data: "id,n\n2,2\n"},
			{params: "format=csv", data: "id,n,new\n3,3.5,x\n"},
		}},
		{name: "zip-entry", since: lastRelease, steps: []step{
			{params: "format=csv&entry=*.csv", data: zipped(map[string]string{"a/rows.csv": "id,n\n1,\"1,234\"\n", "readme.txt": "nothing"})},
			{params: "format=csv", data: zipped(map[string]string{"b/rows.csv": "id,n\n2,\"2,345\"\n", "readme.txt": "nothing"})},
		}},
		{name: "xml-records", since: lastRelease, steps: []step{
			{params: "format=xml", data: `<feed><title>x</title><entry id="1"><name>Ann</name><n>1,234</n></entry><entry id="2"><name>Bob</name><n>2</n></entry></feed>`},
			{params: "format=xml", data: `<feed><title>x</title><entry id="3"><name>Cy</name><n>3</n></entry><note a="1"/><note a="2"/><note a="3"/></feed>`},
			{params: "format=xml&mode=append", data: `<feed><entry id="4"><name>Di</name></entry><entry id="5"><name>Ed</name></entry></feed>`},
		}},
		{name: "xml-path", since: lastRelease, steps: []step{
			{params: "format=xml&path=//order&explode=lines/line", data: `<shop><order id="1"><lines><line n="1">a</line><line n="2">b</line></lines></order><order id="2"><lines><line n="3">c</line></lines></order></shop>`},
			{params: "format=xml", data: `<shop><order id="3"><lines><line n="4">d</line></lines></order></shop>`},
		}},
		{name: "xlsx-sheet", since: lastRelease, steps: []step{
			{params: "format=xlsx&sheet=2", data: workbook("name,amount\nAnn,1\n", "Report\n\nname,amount,at\nAnn,12.5,46000\nBob,3,46001.5\n\nSource: the bureau\n")},
			{params: "format=xlsx", data: workbook("name,amount\nAnn,1\n", "Report\n\nname,amount,at\nCy,7,46002\n\nNote: new\n")},
			{params: "format=xlsx&mode=append", data: workbook("name,amount\nAnn,1\n", "name,amount,at\nDi,8,46003\n")},
		}},
		{name: "xlsx-range", since: lastRelease, steps: []step{
			{params: "format=xlsx&path=B2:C4", data: workbook("x,y,z\n1,name,n\n2,Ann,1\n3,Bob,2\n4,Cy,3\n")},
			{params: "format=xlsx", data: workbook("x,y,z\n1,name,n\n2,Di,4\n3,,5\n4,Ed,6\n")},
		}},
		{name: "xlsx-merge", since: lastRelease, steps: []step{
			{params: "format=xlsx&mode=merge&key=id", data: workbook("id,name\n1,Ann\n2,Bob\n2,Rob\n")},
			{params: "format=xlsx", data: workbook("id,name\n2,Bo\n3,Cy\n")},
		}},
		{name: "parquet-plain", since: lastRelease, steps: []step{
			{params: "format=parquet", data: "export:parquet", parent: "id,n,exact,day,at,ok\n1,1.5,12345678901234567890.123,2026-01-01,2026-01-01T10:00:00Z,true\n2,2.5,1.000,2026-01-02,2026-01-02T10:00:00Z,false\n"},
			{params: "format=parquet", data: "export:parquet", parent: "id,n,exact,day,at,ok\n3,7,1.5,2026-01-03,2026-01-03T10:00:00Z,true\n"},
			{params: "format=parquet&mode=append", data: "export:parquet", parent: "id,n,exact,day,at,ok\n4,x,1.5,2026-01-03,2026-01-03T10:00:00Z,true\n"},
		}},
		{name: "arrow-merge", since: lastRelease, steps: []step{
			{params: "format=arrow&mode=merge&key=id", data: "export:arrow", parent: "id,n,day\n1,1.5,2026-01-01\n2,2.5,2026-01-02\n"},
			{params: "format=arrow", data: "export:arrow", parent: "id,n,day\n2,7.25,2026-01-03\n3,8,2026-01-04\n"},
		}},
		{name: "changed-columns", since: lastRelease, steps: []step{
			{params: "format=csv", data: "id,zip,amount,secret\n1,01234,\"1,234\",x\n2,98765,\"2,345\",y\n", patch: `[{"id":"c2","type":"integer","name":"Post code"},{"id":"c4","hidden":true},{"id":"c1","position":3,"description":"A number"}]`},
			{params: "format=csv", data: "id,zip,amount,secret,new\n3,00007,\"3,456\",z,n\n"},
			{params: "format=csv&mode=append", data: "id,zip,amount,secret\n4,x,4,w\n"},
		}},
		{name: "expected-rows", since: lastRelease, steps: []step{
			{params: "format=csv", data: "id,n\n1,1\n2,2\n", patch: `{"expect":{"minRows":2,"notNull":["id"],"unique":["id"]},"keep":{"versions":3}}`},
			{params: "format=csv", data: "id,n\n3,3\n"},
			{params: "format=csv", data: "id,n\n3,3\n3,4\n"},
			{params: "format=csv", data: "id,n\n4,4\n5,5\n"},
		}},
		{name: "xlsm-plain", since: lastRelease, steps: []step{
			{params: "format=xlsm", data: workbook("name,born,amount\nAnn,31/12/45,1\nBob,30/11/80,2\n\nproduct,price\nchair,3\n")},
			{params: "format=xlsm", data: workbook("name,born,amount\nCy,29/10/46,3\n\nproduct,price\ntable,4\n")},
		}},
		{name: "ods-plain", since: lastRelease, steps: []step{
			{params: "format=ods", data: openDocument("name,amount\nAnn,12.5\nBob,3\n")},
			{params: "format=ods", data: openDocument("name,amount\nCy,7\n")},
			{params: "format=ods&mode=append", data: openDocument("name,amount\nDi,about\n")},
		}},
	}
}

func zipped(files map[string]string) string {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, name := range sortedNames(files) {
		w, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(w, files[name])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := archive.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// workbook is an XLSX file with a sheet for each CSV. What looks like a number is
// one.
func workbook(sheets ...string) string {
	const head = `<?xml version="1.0" encoding="UTF-8"?>`
	var types, relations, list strings.Builder
	files := make(map[string]string)
	for i, csv := range sheets {
		var cells strings.Builder
		for r, line := range strings.Split(strings.TrimSuffix(csv, "\n"), "\n") {
			fmt.Fprintf(&cells, `<row r="%d">`, r+1)
			for c, text := range strings.Split(line, ",") {
				at := fmt.Sprintf("%c%d", 'A'+c, r+1)
				switch {
				case text == "":
				case strings.Trim(text, "0123456789.") == "":
					fmt.Fprintf(&cells, `<c r="%s"><v>%s</v></c>`, at, text)
				default:
					fmt.Fprintf(&cells, `<c r="%s" t="inlineStr"><is><t>%s</t></is></c>`, at, text)
				}
			}
			cells.WriteString(`</row>`)
		}
		part := fmt.Sprintf("worksheets/sheet%d.xml", i+1)
		files["xl/"+part] = head + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + cells.String() + `</sheetData></worksheet>`
		fmt.Fprintf(&types, `<Override PartName="/xl/%s" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`, part)
		fmt.Fprintf(&relations, `<Relationship Id="rId%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="%s"/>`, i+1, part)
		fmt.Fprintf(&list, `<sheet name="Sheet %d" sheetId="%d" r:id="rId%d"/>`, i+1, i+1, i+1)
	}
	files["[Content_Types].xml"] = head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` + types.String() + `</Types>`
	files["_rels/.rels"] = head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`
	files["xl/workbook.xml"] = head + `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>` + list.String() + `</sheets></workbook>`
	files["xl/_rels/workbook.xml.rels"] = head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + relations.String() + `</Relationships>`
	return zipped(files)
}

// openDocument is an ODS file with a sheet. What looks like a number is one.
func openDocument(csv string) string {
	var rows strings.Builder
	for line := range strings.Lines(csv) {
		rows.WriteString(`<table:table-row>`)
		for _, text := range strings.Split(strings.TrimSuffix(line, "\n"), ",") {
			if strings.Trim(text, "0123456789.") == "" {
				fmt.Fprintf(&rows, `<table:table-cell office:value-type="float" office:value="%s"/>`, text)
			} else {
				fmt.Fprintf(&rows, `<table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>`, text)
			}
		}
		rows.WriteString(`</table:table-row>`)
	}
	const namespaces = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"`
	return zipped(map[string]string{
		"mimetype":    "application/vnd.oasis.opendocument.spreadsheet",
		"content.xml": `<?xml version="1.0" encoding="UTF-8"?><office:document-content ` + namespaces + `><office:body><office:spreadsheet><table:table table:name="Sheet 1">` + rows.String() + `</table:table></office:spreadsheet></office:body></office:document-content>`,
	})
}
