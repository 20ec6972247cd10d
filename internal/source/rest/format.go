package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// mediaTypes are the formats that media types name.
var mediaTypes = map[string]string{
	"application/json": "json", "text/json": "json",
	"application/x-ndjson": "ndjson", "application/ndjson": "ndjson", "application/jsonl": "ndjson",
	"application/x-jsonlines": "ndjson", "application/jsonlines": "ndjson",
	"text/csv": "csv", "application/csv": "csv", "text/x-csv": "csv",
	"text/tab-separated-values": "tsv",
}

// sniffed is how many bytes of a page are looked at to find its format.
const sniffed = 64 << 10

// formatOf finds the format of a page: the one that is given, or else the one
// that its media type names, or else the one that it looks like.
func formatOf(given string, header http.Header, page *io.SectionReader) (string, error) {
	contentType := header.Get("Content-Type")
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType = ""
	}
	head := make([]byte, min(page.Size(), sniffed))
	n, err := page.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")), " \t\r\n")
	if isHTML(mediaType, head) {
		return "", fail("wrong-content-type", nil,
			"The answer is a web page (%s), not data. Check the URL, and whether it needs a credential.", shownType(mediaType))
	}
	if given != "" && given != "auto" {
		return given, nil
	}
	if format, ok := mediaTypes[mediaType]; ok {
		return format, nil
	}
	if strings.HasSuffix(mediaType, "+json") {
		return "json", nil
	}
	if !slices.Contains([]string{"", "text/plain", "application/octet-stream", "binary/octet-stream", "text/html"}, mediaType) {
		return "", fail("wrong-content-type", nil,
			"Data of the type %s cannot be read; it must be JSON, NDJSON, CSV or TSV. Where it is one of them under a wrong name, say so in response.format.", mediaType)
	}
	format := sniff(head, page.Size() <= sniffed)
	if format == "" {
		return "", fail("wrong-content-type", nil,
			"The answer (%s) does not look like JSON, NDJSON, CSV or TSV; where it is one of them, say so in response.format.", shownType(mediaType))
	}
	return format, nil
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
	start := bytes.ToLower(head[:min(len(head), 64)])
	if bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) {
		return true
	}
	return (mediaType == "text/html" || mediaType == "application/xhtml+xml") && bytes.HasPrefix(start, []byte("<"))
}

// sniff finds the format of a text by its beginning; whole says that it is all.
func sniff(head []byte, whole bool) string {
	switch {
	case len(head) == 0 || bytes.IndexByte(head, 0) >= 0 || head[0] == '<':
		return ""
	case head[0] == '{' || head[0] == '[':
		return sniffJSON(head, whole)
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.Count(line, []byte("\t")) > bytes.Count(line, []byte(",")) {
		return "tsv"
	}
	if bytes.ContainsAny(line, ",;|") || bytes.IndexByte(head, '\n') >= 0 {
		return "csv"
	}
	return ""
}

// sniffJSON tells one JSON value from several.
func sniffJSON(head []byte, whole bool) string {
	d := jsontext.NewDecoder(bytes.NewReader(head), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.SkipValue() != nil {
		return "json"
	}
	rest := head[d.InputOffset():]
	after := bytes.TrimLeft(rest, " \t\r\n")
	if len(after) > 0 && bytes.IndexByte(rest[:len(rest)-len(after)], '\n') >= 0 && (after[0] == '{' || after[0] == '[') {
		return "ndjson"
	}
	if len(after) == 0 && !whole {
		return "ndjson" // The first value ends where the look ends: by chance, or more follows.
	}
	return "json"
}
