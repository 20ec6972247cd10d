package fetch

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// readable names them for people.
const readable = "JSON, NDJSON, CSV, TSV, XML, a spreadsheet (xlsx, xlsm, xlsb, xls, ods), Parquet or Arrow"

// headBytes is how much of a page its format is recognised by, and beginningBytes how
// much of every one is looked at.
const (
	headBytes      = 64 << 10
	beginningBytes = 1 << 10
)

// formatOf finds the format of a page: the one that is given, or else the one
// that its media type names, or else the one that it looks like.
func formatOf(given string, header http.Header, page *io.SectionReader) (string, error) {
	contentType := header.Get("Content-Type")
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType = ""
	}
	head, err := headOf(page, beginningBytes)
	if err == nil && len(bytes.TrimLeft(head, " \t\r\n")) < 64 {
		head, err = headOf(page, headBytes) // Templates leave many blank lines.
	}
	if err != nil {
		return "", err
	}
	if isHTML(mediaType, head) {
		return "", spec.Fail("wrong-content-type", nil,
			"The response is a web page (%s), not data. Check the URL, and whether it needs a credential.", shownType(mediaType))
	}
	if given != "" && given != "auto" {
		return given, nil
	}
	if format, ok := spec.PageFormats.OfMediaType(mediaType); ok {
		if input.BinaryFormat(head) == "" {
			return format.Name, nil // as nearly always
		}
		actual, err := recognise(page)
		if err == nil && actual.Readable { // Nothing of text begins like that.
			format = actual
		}
		return format.Name, err
	}
	if format, ok := spec.PageFormats.OfSuffix(mediaType); ok {
		return format.Name, nil
	}
	if !slices.Contains([]string{"", "text/plain", "application/octet-stream", "binary/octet-stream", "text/html"}, mediaType) {
		return "", spec.Fail("wrong-content-type", nil,
			"Data of the type %s cannot be read; it must be "+readable+". If it is one of them with a wrong type, set response.format.", mediaType)
	}
	format, err := recognise(page)
	if err != nil {
		return "", err
	}
	if !format.Readable {
		return "", spec.Fail("wrong-content-type", nil,
			"The response (%s) does not look like "+readable+". If it is one of them, set response.format.", shownType(mediaType))
	}
	return format.Name, nil
}

func shownType(mediaType string) string {
	if mediaType == "" {
		return "without a content type"
	}
	return mediaType
}

// headOf is the beginning of a page, of so many bytes where it has them.
func headOf(page *io.SectionReader, most int64) ([]byte, error) {
	head := make([]byte, min(page.Size(), most))
	n, err := page.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return head[:n], nil
}

// recognise is the format that a page looks like.
func recognise(page *io.SectionReader) (feedmill.Format, error) {
	head, err := headOf(page, headBytes)
	if err != nil {
		return feedmill.Format{}, err
	}
	format, _ := spec.PageFormats.Named(decode.Recognise(head, page.Size() <= headBytes))
	return format, nil
}

// isHTML reports whether a page is for people. One that only says so is not:
// many servers call everything text/html.
func isHTML(mediaType string, head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	start := bytes.ToLower(head[:min(len(head), 64)])
	if bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) {
		return true
	}
	return (mediaType == "text/html" || mediaType == "application/xhtml+xml") && bytes.HasPrefix(start, []byte("<"))
}
