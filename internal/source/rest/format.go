package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// pageFormats are the formats that an answer can have.
var pageFormats = decode.PageFormats()

// readable names them for people.
const readable = "JSON, NDJSON, CSV, TSV, XML, a spreadsheet (xlsx, xlsm, xlsb, xls, ods), Parquet or Arrow"

// headBytes is how much of a page its format is recognised by.
const headBytes = 64 << 10

// formatOf finds the format of a page: the one that is given, or else the one
// that its media type names, or else the one that it looks like.
func formatOf(given string, header http.Header, page *io.SectionReader) (string, error) {
	contentType := header.Get("Content-Type")
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType = ""
	}
	head := make([]byte, min(page.Size(), headBytes))
	n, err := page.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = head[:n]
	if isHTML(mediaType, head) {
		return "", fail("wrong-content-type", nil,
			"The answer is a web page (%s), not data. Check the URL, and whether it needs a credential.", shownType(mediaType))
	}
	if given != "" && given != "auto" {
		return given, nil
	}
	if format, ok := pageFormats.OfMediaType(mediaType); ok {
		if input.BinaryFormat(head) != "" { // Nothing of text begins like that.
			if actual, known := pageFormats.Named(decode.Recognise(head, page.Size() <= headBytes)); known && actual.Readable {
				return actual.Name, nil
			}
		}
		return format.Name, nil
	}
	if format, ok := pageFormats.OfSuffix(mediaType); ok {
		return format.Name, nil
	}
	if !slices.Contains([]string{"", "text/plain", "application/octet-stream", "binary/octet-stream", "text/html"}, mediaType) {
		return "", fail("wrong-content-type", nil,
			"Data of the type %s cannot be read; it must be "+readable+". Where it is one of them under a wrong name, say so in response.format.", mediaType)
	}
	format, _ := pageFormats.Named(decode.Recognise(head, page.Size() <= headBytes))
	if !format.Readable {
		return "", fail("wrong-content-type", nil,
			"The answer (%s) does not look like "+readable+"; where it is one of them, say so in response.format.", shownType(mediaType))
	}
	return format.Name, nil
}

func shownType(mediaType string) string {
	if mediaType == "" {
		return "without a content type"
	}
	return mediaType
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
