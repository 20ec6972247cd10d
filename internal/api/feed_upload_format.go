package api

import (
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/feedmill/feedmill"
)

// uploadFormats are the formats that data is taken in.
type uploadFormats struct {
	known feedmill.Formats
	// names lists those that can be read, for people.
	names string
	// accepted are their media types, as Accept-Post has them, and parameters
	// the query parameters that say how data is read.
	accepted   string
	parameters []string
}

func newUploadFormats(known feedmill.Formats) uploadFormats {
	f := uploadFormats{known: known}
	var types []string
	readable := known.Readable()
	for _, format := range readable {
		types = append(types, format.MediaTypes[0])
	}
	f.names = alternatives(readable.Names())
	f.accepted = strings.Join(append(types, "application/zip", "application/gzip", "application/zstd", "multipart/form-data", "application/octet-stream"), ", ")
	f.parameters = slices.Concat([]string{"format", "types", "columns", "entry", "rules"}, readable.Parameters())
	return f
}

// alternatives lists names with an or before the last.
func alternatives(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// given returns the format that the parameters name, and notes what is wrong
// with it.
func (f *uploadFormats) given(c *call) string {
	given, named := c.query["format"]
	if format, _ := f.known.Named(given); named && !format.Readable {
		c.fault(feedmill.Fault{Parameter: "format", Detail: "format must be " + f.names + "."})
	}
	return given
}

// checkParameters notes the parameters that the format has no use for.
func (f *uploadFormats) checkParameters(c *call, name string) {
	format, _ := f.known.Named(name)
	if !format.Readable {
		return // the format itself is at fault
	}
	for _, parameter := range f.known.Parameters() {
		if c.query[parameter] == "" || slices.Contains(format.Parameters, parameter) {
			continue
		}
		detail := parameter + " does not apply to " + name + "."
		switch parameter {
		case "path":
			detail = "path applies only to JSON, XML and spreadsheets, not to " + name + "."
		case "explode":
			detail = "explode applies only to JSON and XML, not to " + name + "."
		case "sheet":
			detail = "sheet applies only to spreadsheets, not to " + name + "."
		}
		c.fault(feedmill.Fault{Parameter: parameter, Detail: detail})
	}
}

// pick returns the format that was given, or else the one of the media type.
func (f *uploadFormats) pick(given, mediaType string) (string, error) {
	if given != "" {
		return given, nil
	}
	if format, ok := f.known.OfMediaType(mediaType); ok {
		return format.Name, nil
	}
	if format, ok := f.known.OfSuffix(mediaType); ok {
		return format.Name, nil
	}
	if mediaType == "application/octet-stream" {
		return "", feedmill.Invalid("Specify the format of the data.", feedmill.Fault{
			Parameter: "format", Detail: "format is required with application/octet-stream: set it to " + f.names + ".",
		})
	}
	return "", f.unsupported(mediaType)
}

// isWrapped reports whether a file in a form says that the data is in it, by its media type or, where that is none
// of ours, by its name.
func (f *uploadFormats) isWrapped(part *multipart.Part) bool {
	mediaType, err := f.mediaType(http.Header(part.Header))
	if err != nil || part.Header.Get("Content-Type") == "" {
		mediaType = "application/octet-stream"
	}
	if isWrapper(mediaType) {
		return true
	}
	_, known := f.known.OfMediaType(mediaType)
	return !known && isArchiveName(fileName(part.Header.Get("Content-Disposition")))
}

// ofPart returns the format of a file in a form. What browsers and curl say of a
// file they mostly know from its name, and not always well: the name counts
// wherever the media type is none of ours.
func (f *uploadFormats) ofPart(given string, part *multipart.Part) (string, error) {
	mediaType := "application/octet-stream"
	if part.Header.Get("Content-Type") != "" {
		var err error
		if mediaType, err = f.mediaType(http.Header(part.Header)); err != nil && given == "" {
			return "", err
		}
	}
	name, err := f.pick(given, mediaType)
	if err == nil {
		return name, nil
	}
	if format, ok := f.known.OfExtension(path.Ext(fileName(part.Header.Get("Content-Disposition")))); ok {
		return format.Name, nil
	}
	return "", err
}

// mediaType returns the media type of an upload without its parameters, of which
// only the encoding matters.
func (f *uploadFormats) mediaType(h http.Header) (string, error) {
	given := h.Get("Content-Type")
	if given == "" {
		return "application/json", nil
	}
	mediaType, params, err := mime.ParseMediaType(given)
	if err != nil {
		return "", f.unsupported(given)
	}
	if charset, ok := params["charset"]; ok && !knownCharset(charset) {
		return "", f.unsupported(given)
	}
	return mediaType, nil
}

func (f *uploadFormats) unsupported(mediaType string) error {
	return &feedmill.Error{
		Kind: feedmill.ErrUnsupported, Detail: "Send the data as " + f.names + " with the matching Content-Type, or set the format parameter.",
		Faults: []feedmill.Fault{{Header: "Content-Type", Detail: fmt.Sprintf("Content-Type %q is not supported.", mediaType)}},
	}
}

// knownCharset reports whether text in this encoding can be read: in any that the WHATWG has a
// name for. Which one it truly is the data tells, as far as it does.
func knownCharset(charset string) bool {
	_, err := htmlindex.Get(charset)
	return err == nil
}

// charsetOf is the encoding that a media type names, empty for none.
func charsetOf(mediaType string) string {
	_, params, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ""
	}
	return params["charset"]
}
