package sheet

import (
	"bytes"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// Kind is the format of data that is a workbook, whatever it is called, and empty where it is none.
func Kind(data input.Source) string {
	head := make([]byte, min(data.Size(), 8))
	if err := input.ReadFull(data, head, 0); err != nil {
		return ""
	}
	switch {
	case string(head) == compoundMark, isBOF(head):
		return "xls"
	case !bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return ""
	}
	parts, _ := openArchive(data) // what is wrong with it is said when it is opened
	switch {
	case parts.has("xl/workbook.bin"):
		return "xlsb"
	case parts.has("[Content_Types].xml"), parts.has("xl/workbook.xml"):
		return "xlsx"
	case parts.has("mimetype") && parts.has("content.xml"):
		return "ods"
	}
	return ""
}

// RecogniseODS reports whether data that begins so is OpenDocument: its first part says so, and
// is not compressed.
func RecogniseODS(head []byte, _ bool) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && bytes.Contains(head[:min(len(head), 128)], []byte("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"))
}

// RecogniseXLSX reports whether data that begins so is a zip file with the parts of Office Open XML
// among its first.
func RecogniseXLSX(head []byte, _ bool) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && (bytes.Contains(head, []byte("xl/")) || bytes.Contains(head, []byte(`xl\`)) || bytes.Contains(head, []byte("[Content_Types].xml"))) && !RecogniseXLSB(head, false)
}

// RecogniseXLSB is [RecogniseXLSX] for the parts of binary workbooks.
func RecogniseXLSB(head []byte, _ bool) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && (bytes.Contains(head, []byte("xl/workbook.bin")) || bytes.Contains(head, []byte(`xl\workbook.bin`)))
}

// RecogniseXLS reports whether data that begins so is a compound file, or has the records of one of its streams.
func RecogniseXLS(head []byte, _ bool) bool {
	return bytes.HasPrefix(head, []byte(compoundMark)) || isBOF(head)
}
