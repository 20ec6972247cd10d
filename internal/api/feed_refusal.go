package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// dataError tells apart how reading the data of an upload can fail: by the data
// being at fault, by its being too large, or by the client going away.
func dataError(err error) error {
	if _, ok := errors.AsType[*feedmill.Error](err); ok {
		return err
	}
	return bodyError(err)
}

// inSentences is a refusal of data or of a query as clients read it: a sentence, and for what
// they wrote in the request the place of it.
func inSentences(err error) error {
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok || errors.Is(err, errAborted) {
		return err
	}
	worded := *refusal
	worded.Detail = sentence(worded.Detail)
	worded.Faults = make([]feedmill.Fault, len(refusal.Faults))
	for i, f := range refusal.Faults {
		f.Detail = faultSentence(f)
		worded.Faults[i] = f
	}
	switch {
	case worded.Kind == feedmill.ErrUnsupported && worded.Type == "content-encoding" && len(worded.Faults) == 0:
		worded.Faults = []feedmill.Fault{{Header: "Content-Encoding", Detail: worded.Detail}}
	case worded.Kind == feedmill.ErrInvalid && len(worded.Faults) == 0:
		worded.Faults = []feedmill.Fault{{Detail: worded.Detail}} // the whole body
	}
	return &worded
}

// faultSentence returns the detail of a fault as a sentence. The name of a member or a
// parameter at its beginning keeps its case.
func faultSentence(f feedmill.Fault) string {
	text, name := sentence(f.Detail), f.Parameter
	if f.Parameter == "" {
		name = f.Pointer[strings.LastIndex(f.Pointer, "/")+1:]
	}
	if name != "" && name[0] < utf8.RuneSelf && strings.HasPrefix(f.Detail, name+" ") {
		return name[:1] + text[1:]
	}
	return text
}

// sentence makes a whole sentence of words that were written to stand in one.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// formBoundary is what separates the parts of a form.
func formBoundary(h http.Header) (string, error) {
	_, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return "", feedmill.Invalid("", feedmill.Fault{Header: "Content-Type", Detail: "multipart/form-data requires a boundary. Let your HTTP library set it."})
	}
	return params["boundary"], nil
}

// formError tells a form that is wrong from one that did not arrive.
func formError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*feedmill.Error](err); ok {
		return err
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return feedmill.Invalid("", feedmill.Fault{Detail: "The form is empty. Send the file as a part of the form."})
	}
	return feedmill.Invalid("", feedmill.Fault{Detail: fmt.Sprintf("The form is not valid: %v.", err)})
}
