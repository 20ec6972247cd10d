package api

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// defaultMaxUpload is how many bytes of data are taken where nobody says.
const defaultMaxUpload = 1 << 30

// uploadFormats are the formats of data that are taken, and the media types
// that each is sent as, the best first.
var uploadFormats = []struct {
	name  string
	types []string
}{
	{"csv", []string{"text/csv", "application/csv", "text/x-csv"}},
	{"tsv", []string{"text/tab-separated-values"}},
	{"json", []string{"application/json", "text/json"}},
	{"ndjson", []string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"}},
}

// laterFormats are those that the service knows of and cannot read yet.
var laterFormats = []string{"xlsx", "xlsm", "xlsb", "xls", "ods", "xml", "parquet"}

// acceptedUploads is what Accept-Post says of uploads.
const acceptedUploads = "text/csv, text/tab-separated-values, application/json, application/x-ndjson, multipart/form-data, application/octet-stream"

const formatNames = "csv, tsv, json or ndjson"

// uploadParameters are the query parameters that say how data is read.
var uploadParameters = []string{"format", "path", "types", "explode"}

// readUpload reads what the request says of its data, beside what u has already,
// and hands do the data itself. Once do is done the rest of the body has been read as well, so that
// the request is known in full before anything comes of it.
func (s *Server) readUpload(c *call, u feedmill.Upload, do func(context.Context, feedmill.Upload) (answer, error)) (answer, error) {
	u.Path, u.Explode = c.query["path"], c.query["explode"]
	given := c.readUploadParameters(&u)
	c.checkNameParameter()
	mediaType, err := uploadMediaType(c.r.Header)
	if err != nil && given == "" {
		return answer{}, err
	}
	isForm := mediaType == "multipart/form-data"
	if !isForm {
		if u.Format, err = pickFormat(given, mediaType); err != nil {
			return answer{}, c.withFault(err)
		}
		c.checkUpload(u)
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	body, err := s.Decompress(c.r.Body, strings.Join(c.r.Header.Values("Content-Encoding"), ","), s.MaxUpload)
	if err != nil {
		return answer{}, inSentences(dataError(err))
	}
	defer body.Close()
	whole := wholeBody{c: c, plain: body}
	if isForm {
		return s.readForm(c, &whole, u, given, do)
	}
	u.Name = uploadName(c, c.r.Header.Get("Content-Disposition"))
	u.Body = &whole
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	a, err := do(c.ctx(), u)
	return a, inSentences(err)
}

// readUploadParameters notes what is wrong with the parameters, and answers the
// format that they name.
func (c *call) readUploadParameters(u *feedmill.Upload) (format string) {
	format, named := c.query["format"]
	switch {
	case !named, isUploadFormat(format):
	case slices.Contains(laterFormats, format):
		c.fault(feedmill.Fault{Parameter: "format", Detail: format + " cannot be read yet; send " + formatNames + "."})
	default:
		c.fault(feedmill.Fault{Parameter: "format", Detail: "This must be " + formatNames + "."})
	}
	switch types, named := c.query["types"]; {
	case !named, types == "auto":
	case types == "text":
		u.Text = true
	default:
		c.fault(feedmill.Fault{Parameter: "types", Detail: "This must be auto or text."})
	}
	for _, name := range []string{"path", "explode"} {
		if text, named := c.query[name]; named && text == "" {
			c.fault(feedmill.Fault{Parameter: name, Detail: "This must not be empty; leave it out where there is none."})
		}
	}
	return format
}

// checkUpload notes the parameters that the format has no use for.
func (c *call) checkUpload(u feedmill.Upload) {
	if u.Format != "csv" && u.Format != "tsv" {
		return
	}
	for _, name := range []string{"path", "explode"} {
		if c.query[name] != "" {
			c.fault(feedmill.Fault{Parameter: name, Detail: "Data in " + u.Format + " has no paths; this is for JSON."})
		}
	}
}

func isUploadFormat(name string) bool {
	for _, f := range uploadFormats {
		if f.name == name {
			return true
		}
	}
	return false
}

// pickFormat is the format that was given, or else the one of the media type.
func pickFormat(given, mediaType string) (string, error) {
	if given != "" {
		return given, nil
	}
	for _, f := range uploadFormats {
		if slices.Contains(f.types, mediaType) {
			return f.name, nil
		}
	}
	if mediaType == "application/octet-stream" {
		return "", feedmill.Invalid("Say what the data is.", feedmill.Fault{
			Parameter: "format", Detail: "This is required with application/octet-stream: " + formatNames + ".",
		})
	}
	return "", unsupportedUpload(mediaType)
}

func unsupportedUpload(mediaType string) error {
	return &feedmill.Error{
		Kind: feedmill.ErrUnsupported, Detail: "Send the data as " + formatNames + " with its Content-Type, or say with the parameter format what it is.",
		Faults: []feedmill.Fault{{Header: "Content-Type", Detail: fmt.Sprintf("Data of the type %q is not taken here.", mediaType)}},
	}
}

// withFault adds a refusal of a request to those that were found before. One
// that is not about what the client wrote stands for itself.
func (c *call) withFault(err error) error {
	refusal, ok := err.(*feedmill.Error)
	if !ok || refusal.Kind != feedmill.ErrInvalid {
		return err
	}
	for _, f := range refusal.Faults {
		c.fault(f)
	}
	return c.refusal()
}

// readForm finds the one file in a form and hands it on.
func (s *Server) readForm(c *call, body io.Reader, u feedmill.Upload, given string, do func(context.Context, feedmill.Upload) (answer, error)) (answer, error) {
	boundary, err := formBoundary(c.r.Header)
	if err != nil {
		return answer{}, err
	}
	form := multipart.NewReader(body, boundary)
	part, err := form.NextPart()
	if err != nil {
		return answer{}, formError(err)
	}
	if u.Format, err = partFormat(given, part); err != nil {
		return answer{}, c.withFault(err)
	}
	c.checkUpload(u)
	u.Name = uploadName(c, part.Header.Get("Content-Disposition"))
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	u.Body = &onlyPart{part: part, form: form}
	a, err := do(c.ctx(), u)
	return a, inSentences(err)
}

// onlyPart reads a part of a form after which there must not be another.
type onlyPart struct {
	part *multipart.Part
	form *multipart.Reader
}

func (p *onlyPart) Read(b []byte) (int, error) {
	n, err := p.part.Read(b)
	if err == nil {
		return n, nil
	}
	if err != io.EOF {
		return n, formError(err)
	}
	if _, err := p.form.NextPart(); err == nil {
		return n, feedmill.Invalid("Send one file in the form, and what is to be said of it in the query.", feedmill.Fault{Detail: "The form has more than one part."})
	} else if err != io.EOF {
		return n, formError(err)
	}
	return n, io.EOF
}

// wholeBody reads the data, and at its end whatever else there is of the body.
type wholeBody struct {
	c     *call
	plain io.Reader
}

func (w *wholeBody) Read(b []byte) (int, error) {
	n, err := w.plain.Read(b)
	if err == io.EOF {
		if _, rest := io.Copy(io.Discard, w.c.r.Body); rest != nil {
			err = rest
		}
	}
	if err != nil && err != io.EOF {
		err = dataError(err)
	}
	return n, err
}

// uploadMediaType is the media type of an upload without its parameters, of
// which only the encoding matters.
func uploadMediaType(h http.Header) (string, error) {
	given := h.Get("Content-Type")
	if given == "" {
		return "application/json", nil
	}
	mediaType, params, err := mime.ParseMediaType(given)
	if err != nil {
		return "", unsupportedUpload(given)
	}
	if charset, ok := params["charset"]; ok && !knownCharset(mediaType, charset) {
		return "", unsupportedUpload(given)
	}
	return mediaType, nil
}

// knownCharset reports whether text in this encoding can be read. Which one it
// truly is the data tells: of CSV all of these are found, and JSON is UTF-8.
func knownCharset(mediaType, charset string) bool {
	known := []string{"utf-8", "utf8", "us-ascii"}
	if strings.HasPrefix(mediaType, "text/") && mediaType != "text/json" {
		known = append(known, "utf-16", "utf-16le", "utf-16be", "windows-1252", "iso-8859-1", "latin1")
	}
	return slices.Contains(known, strings.ToLower(charset))
}
