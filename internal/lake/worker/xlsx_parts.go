package worker

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	xmlHead       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainNamespace = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relationTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	relationsHead = xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relationsTail = `</Relationships>`

	packageRelations = relationsHead + `<Relationship Id="rId1" Type="` + relationTypes + `/officeDocument" Target="xl/workbook.xml"/>` + relationsTail

	sheetTail = `</sheetData></worksheet>`
)

// sheetPath is where sheet n is in the archive, the first of which is 1.
func sheetPath(n int) string { return "xl/worksheets/sheet" + strconv.Itoa(n) + ".xml" }

// sheetHead is a sheet up to its rows. The first of them stays in sight.
func sheetHead(columns []sheetColumn, selected bool) []byte {
	xml := []byte(xmlHead + `<worksheet ` + mainNamespace + `><sheetViews><sheetView `)
	if selected {
		xml = append(xml, `tabSelected="1" `...)
	}
	xml = append(xml, `workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`...)
	for i := range columns {
		if i == 0 {
			xml = append(xml, "<cols>"...)
		}
		xml = fmt.Appendf(xml, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, columns[i].shownWidth())
		if i == len(columns)-1 {
			xml = append(xml, "</cols>"...)
		}
	}
	return append(xml, "<sheetData>"...)
}

// workbook lists the sheets by their names, which need no escaping. The name of the application
// lets an upload of the workbook read every row as it is.
func workbook(sheets []string) string {
	var xml strings.Builder
	xml.WriteString(xmlHead + `<workbook ` + mainNamespace + ` xmlns:r="` + relationTypes + `"><fileVersion appName="feedmill"/><sheets>`)
	for i, name := range sheets {
		fmt.Fprintf(&xml, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, name, i+1, i+1)
	}
	xml.WriteString(`</sheets></workbook>`)
	return xml.String()
}

func workbookRelations(sheets int) string {
	var xml strings.Builder
	xml.WriteString(relationsHead)
	for n := range sheets {
		fmt.Fprintf(&xml, `<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>`, n+1, relationTypes, n+1)
	}
	fmt.Fprintf(&xml, `<Relationship Id="rId%d" Type="%s/styles" Target="styles.xml"/>`, sheets+1, relationTypes)
	xml.WriteString(relationsTail)
	return xml.String()
}

func contentTypes(sheets int) string {
	const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	var xml strings.Builder
	xml.WriteString(xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + spreadsheet + `sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + spreadsheet + `styles+xml"/>`)
	for n := range sheets {
		fmt.Fprintf(&xml, `<Override PartName="/%s" ContentType="%sworksheet+xml"/>`, sheetPath(n+1), spreadsheet)
	}
	xml.WriteString(`</Types>`)
	return xml.String()
}
