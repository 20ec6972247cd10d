package sheet

import "bytes"

// RecogniseODS reports whether data that begins so is OpenDocument: its first part says so, and
// is not compressed.
func RecogniseODS(head []byte, _ bool) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && bytes.Contains(head[:min(len(head), 128)], []byte("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"))
}

// RecogniseXLSX reports whether data that begins so is a zip file with the parts of Office Open XML
// among its first.
func RecogniseXLSX(head []byte, _ bool) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && (bytes.Contains(head, []byte("xl/")) || bytes.Contains(head, []byte("[Content_Types].xml")))
}
