package decode

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/json"
	"github.com/feedmill/feedmill/internal/decode/sheet"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// actualBytes is how much of data is looked at to see that it is what it is said
// to be.
const actualBytes = 64 << 10

// actualFormat is the format of data that is said to be in another one: JSON that was
// sent as CSV, CSV that was sent as JSON, a workbook that was sent as anything. A web page
// is no data at all, but that programs call one a workbook that has tables.
func actualFormat(said string, data Source, options Options) (string, error) {
	head := make([]byte, min(data.Size(), actualBytes))
	if n, err := data.ReadAt(head, 0); n < len(head) && err != nil && err != io.EOF {
		return "", fmt.Errorf("read the head of the data: %w", err)
	}
	whole := int64(len(head)) == data.Size()
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if HasSheets(said) {
		return actualSheet(said, data, text, whole), nil
	}
	if isPage(text) && said != "xml" {
		return "", input.Refuse("web-page", "the data is a web page (HTML), not %s; it starts with %q. It can be a login or error page. "+
			"If it is a table that a program saved as HTML, set format=xls to read it", said, excerpt(text))
	}
	if input.BinaryFormat(head) != "" {
		if kind := sheet.Kind(data); kind != "" {
			return kind, nil
		}
	}
	switch said {
	case "csv", "tsv":
		if options.Delimiter != "" || options.Header != "" {
			return said, nil
		}
		switch {
		case json.RecogniseLines(text, whole) && isJSON(text, whole):
			return "ndjson", nil
		case json.Recognise(text, whole) && isJSON(text, whole):
			return "json", nil
		case bytes.HasPrefix(text, []byte("<?xml")) || whole && isElement(text):
			return "xml", nil
		}
	case "json", "ndjson":
		if said == "ndjson" && options.Rules >= 2 && isArray(text, whole) {
			return "json", nil
		}
		if options.Path == "" && options.Explode == "" && looksSeparated(text) {
			return "csv", nil
		}
		if xml.Recognise(text, whole) {
			return "xml", nil
		}
	}
	return said, nil
}

// actualSheet is the format of data that is said to be a workbook: another kind of workbook, or a text that a
// program has called one so that it opens in a spreadsheet.
func actualSheet(said string, data Source, text []byte, whole bool) string {
	kind := sheet.Kind(data)
	switch {
	case kind == "xlsx" && said == "xlsm":
		return said
	case kind != "":
		return kind
	case isPage(text):
		return webPage.Name
	}
	switch kind := Recognise(text, whole); kind {
	case "xml", "csv", "tsv":
		return kind
	}
	return said
}

// isPage reports whether a text is for people to look at.
func isPage(text []byte) bool {
	start := bytes.ToLower(text[:min(len(text), 512)])
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<table", "<meta "} {
		if bytes.HasPrefix(start, []byte(tag)) {
			return true
		}
	}
	return bytes.HasPrefix(start, []byte("<!--")) && bytes.Contains(start, []byte("<html"))
}

// isJSON reports whether a text that begins like JSON goes on like it.
func isJSON(text []byte, whole bool) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(rest) == 0 {
		return false
	}
	if text[0] == '{' {
		return rest[0] == '"' || rest[0] == '}'
	}
	return strings.IndexByte("{[]", rest[0]) >= 0 || whole && rest[len(rest)-1] == ']'
}

// isArray reports whether a text is an array of records, which may span lines.
func isArray(text []byte, whole bool) bool {
	if len(text) == 0 || text[0] != '[' || !json.Recognise(text, whole) {
		return false
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == ']')
}

// isElement reports whether a text is an element of XML from its beginning to its
// end. Some programs write the names of columns as <DATE>,<CLOSE>.
func isElement(text []byte) bool {
	if !xml.Recognise(text, true) {
		return false
	}
	name := text[1:]
	if end := bytes.IndexAny(name, " \t\r\n/>"); end >= 0 {
		name = name[:end]
	}
	last, closed := bytes.CutPrefix(text[max(bytes.LastIndexByte(text, '<'), 0):], []byte("</"))
	return closed && bytes.Equal(bytes.TrimRight(last, "> \t\r\n"), name)
}

// looksSeparated reports whether a text that was said to be JSON is a table of
// separated fields: its first two lines have as many delimiters, and it begins with a
// name.
func looksSeparated(text []byte) bool {
	if len(text) == 0 || strings.IndexByte("{[\"-0123456789", text[0]) >= 0 && !bytes.HasPrefix(text, []byte("\"")) {
		return false
	}
	first, rest, several := bytes.Cut(text, []byte("\n"))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	if !several || len(bytes.TrimSpace(second)) == 0 {
		return false
	}
	for _, delimiter := range []string{",", ";", "\t", "|"} {
		if n := bytes.Count(first, []byte(delimiter)); n > 0 && n == bytes.Count(second, []byte(delimiter)) {
			return true
		}
	}
	return false
}

// excerpt is the beginning of a text.
func excerpt(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(len(text), 40)]), "")
}

// mistaken is a table of data that is in another format than it was said to be.
type mistaken struct {
	Table
	said, actual string
}

// Warnings say so.
func (m mistaken) Warnings() ([]feedmill.Warning, error) {
	warnings, err := m.Table.Warnings()
	return append([]feedmill.Warning{{
		Code: feedmill.WarnFormat, Count: 1, Detail: fmt.Sprintf("The data was sent as %s but was recognized and read as %s. Set the matching format at the source.", m.said, m.actual),
	}}, warnings...), err
}
