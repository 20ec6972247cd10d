package decode

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/sheet"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// openXMLBook opens a workbook of Excel 2003. It returns nil where the document is not a workbook, or is to be read as any other
// document because the records are at a path of XML.
func openXMLBook(ctx context.Context, data Source, o Options, options xml.Options, page bool) (Table, error) {
	if strings.HasPrefix(options.Path, "/") {
		return nil, nil
	}
	document, err := xml.OpenWorkbook(ctx, data, options)
	if document == nil || err != nil {
		return nil, err
	}
	for name, given := range map[string]bool{"explode": o.Explode != "", "context": o.Context == "true" && o.Before.Set().Context != "true"} {
		if given {
			return nil, errors.Join(feedmill.Invalid("The data is a workbook.", feedmill.Fault{
				Parameter: name, Detail: name + " applies to JSON and XML documents; the data is a workbook. Set path=/Workbook/… to read it as XML.",
			}), document.Close())
		}
	}
	table, err := sheet.OpenXML(ctx, document, data.Size(), o.xmlBookOptions(page))
	if err != nil {
		return nil, errors.Join(err, document.Close())
	}
	return table, nil
}

// xmlBookOptions are the options of a workbook in XML. What was set before stays set, which only the data tells to be of a workbook.
func (o Options) xmlBookOptions(page bool) sheet.Options {
	if path := o.Before.Path; o.Path == "" && path.By == feedmill.BySet && !strings.HasPrefix(path.Value, "/") {
		o.Path = path.Value
	}
	if before := o.Before.Sheet; o.Sheet == 0 && before.By == feedmill.BySet {
		o.Sheet, _ = strconv.Atoi(before.Value) // it was one
	}
	out := o.sheetOptions()
	out.Page = page
	return out
}

// refuseSheetOptions refuses options of spreadsheets that are given for data of another kind.
func (o Options) refuseSheetOptions(kind string) error {
	var faults []feedmill.Fault
	refuse := func(name, given, before string) {
		if given != "" && given != before { // what was set for earlier data may be remembered for data that it does not apply to
			faults = append(faults, feedmill.Fault{Parameter: name, Detail: fmt.Sprintf("%s applies only to workbooks; the data is %s.", name, kind)})
		}
	}
	before := o.Before.Set()
	if o.Sheet != 0 {
		refuse("sheet", strconv.Itoa(o.Sheet), "")
	}
	refuse("header", o.Header, before.Header)
	refuse("footer", o.Footer, before.Footer)
	refuse("table", o.Table, before.Table)
	if faults == nil {
		return nil
	}
	return feedmill.Invalid("The data has no sheets.", faults...)
}
