package decode

import (
	"context"
	"errors"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/json"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// openXML opens an XML document. A workbook of Excel 2003 is read as a spreadsheet, and a property list as the JSON that it
// represents, unless the options set a path of XML for the records. A page is one of several documents.
func openXML(ctx context.Context, data Source, o Options, options xml.Options, page bool) (Table, error) {
	if o.Rules >= 2 {
		if table, err := openXMLBook(ctx, data, o, options, page); table != nil || err != nil {
			return table, err
		}
		if err := o.refuseSheetOptions("an XML document that is not a workbook"); err != nil {
			return nil, err
		}
	}
	if options.Path != "" && !strings.HasPrefix(options.Path, "$") {
		return xml.Open(ctx, data, options)
	}
	plist, err := xml.OpenPlist(ctx, data, options)
	if err != nil {
		return nil, err
	}
	if plist.JSON == nil {
		_ = plist.Close() // nothing was written
		return xml.Open(ctx, data, options)
	}
	inner := o.jsonOptions()
	inner.Encoding = "" // it was undone
	table, err := json.Open(ctx, plist.JSON, inner)
	if err != nil {
		return nil, errors.Join(err, plist.Close())
	}
	return &plistTable{table, plist}, nil
}

// plistTable is a property list.
type plistTable struct {
	*json.Table
	plist *xml.Plist
}

// Found is where the records are, and which encoding the document was written in.
func (t *plistTable) Found() feedmill.Findings {
	found := t.Table.Found()
	found.Encoding = t.plist.Encoding()
	return found
}

func (t *plistTable) Close() error { return errors.Join(t.Table.Close(), t.plist.Close()) }
