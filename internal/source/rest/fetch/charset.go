package fetch

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// inUTF8 is the text of an answer that is shown, in the encoding that its mark or its media
// type says.
func inUTF8(text []byte, h http.Header) []byte {
	_, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	encoding, known := input.EncodingNamed(params["charset"])
	if marked, mark := input.EncodingOf(text); mark > 0 {
		encoding, known, text = marked, true, text[mark:]
	}
	if !known || encoding == input.UTF8 || utf8.Valid(text) && !bytes.Contains(text, []byte{0}) {
		return text
	}
	decoder, err := htmlindex.Get(string(encoding))
	if err != nil {
		return text
	}
	decoded, err := decoder.NewDecoder().Bytes(text)
	if err != nil {
		return text
	}
	return decoded
}

// recode has a page of text whose media type names an encoding be UTF-8. What the text
// itself says comes first: a mark, a declaration, or that it is UTF-8 already, whatever
// a server says of everything it sends.
func (s *sequence) recode(a *answer, o outcome) outcome {
	mediaType, params, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	encoding, ok := input.EncodingNamed(params["charset"])
	if !ok || s.job.Encoding != "" || a.size == 0 || encoding == input.UTF8 || strings.HasPrefix(string(encoding), "utf-16") {
		return o
	}
	if format, known := spec.PageFormats.OfMediaType(mediaType); encoding == input.Windows1252 && known && (format.Name == "csv" || format.Name == "tsv") {
		return o // It is what servers say of any text, and the letters of a table tell better.
	}
	head := make([]byte, min(a.size, xml.HeadBytes))
	if err := input.ReadFull(a.body, head, 0); err != nil {
		return o
	}
	declared, _ := xml.FindEncoding(head)
	if _, mark := input.EncodingOf(head); mark > 0 || declared.Declared != "" || input.BinaryFormat(head) != "" {
		return o
	}
	if utf8, err := input.IsUTF8(a.request.Context(), a.body); err != nil || utf8 {
		return o // An error is met again when the page is read.
	}
	known, err := htmlindex.Get(string(encoding))
	if err != nil {
		return o
	}
	contentType := a.header.Get("Content-Type")
	if err := s.respool(a, known.NewDecoder().Reader(io.NewSectionReader(a.body, 0, a.size)), ""); err != nil {
		o.err = err
		return o
	}
	a.header.Set("Content-Type", contentType)
	return o
}
