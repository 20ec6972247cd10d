package api

import (
	"context"
	"io"
	"mime/multipart"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// defaultMaxUpload is how many bytes of data are taken where nobody says.
const defaultMaxUpload = 1 << 30

// readUpload reads what the request says of its data, beside what u has already,
// and hands do the data itself. Once do is done the rest of the body has been read as well, so that
// the request is known in full before anything comes of it.
func (s *Server) readUpload(c *call, u feedmill.Upload, do func(context.Context, feedmill.Upload) (answer, error)) (answer, error) {
	u.Path, u.Explode = c.query["path"], c.query["explode"]
	given := s.readUploadParameters(c, &u)
	u.Columns = c.columnsParameter()
	c.checkNameParameter()
	mediaType, err := s.uploads.mediaType(c.r.Header)
	if err != nil && given == "" {
		return answer{}, err
	}
	u.Charset = charsetOf(c.r.Header.Get("Content-Type"))
	isForm := mediaType == "multipart/form-data"
	if !isForm && (given != "" || !isWrapper(mediaType)) {
		if u.Format, err = s.uploads.pick(given, mediaType); err != nil {
			return answer{}, c.withFault(err)
		}
		s.uploads.checkParameters(c, u.Format)
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	giveBack, err := s.shares.takeUpload(c.ctx(), c.who.Quotas.ConcurrentUploads)
	if err != nil {
		return answer{}, err
	}
	defer giveBack()
	body, err := s.Decompress(c.r.Body, strings.Join(c.r.Header.Values("Content-Encoding"), ","), s.MaxUpload)
	if err != nil {
		return answer{}, inSentences(dataError(err))
	}
	defer body.Close()
	whole := wholeBody{c: c, plain: c.copied(body)}
	if isForm {
		return s.readForm(c, &whole, u, given, do)
	}
	u.Name, u.File = uploadName(c, c.r.Header.Get("Content-Disposition")), fileName(c.r.Header.Get("Content-Disposition"))
	u.Body = &whole
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	guess := given == "" && (isWrapper(mediaType) || c.r.Header.Get("Content-Type") == "")
	return s.unwrap(c, u, fileName(c.r.Header.Get("Content-Disposition")), guess, do)
}

// readUploadParameters notes what is wrong with the parameters, and returns the
// format that they name.
func (s *Server) readUploadParameters(c *call, u *feedmill.Upload) (format string) {
	format = s.uploads.given(c)
	switch types, named := c.query["types"]; {
	case !named, types == "auto":
	case types == "text":
		u.Text = true
	default:
		c.fault(feedmill.Fault{Parameter: "types", Detail: "types must be auto or text."})
	}
	if text, named := c.query["sheet"]; named {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			c.fault(feedmill.Fault{Parameter: "sheet", Detail: "sheet must be the number of a sheet, starting at 1."})
		}
		u.Sheet = int(n)
	}
	if text, named := c.query["rules"]; named {
		n, err := strconv.Atoi(text)
		if u.Rules = feedmill.Rules(n); err != nil || u.Rules.Fault() != "" {
			c.fault(feedmill.Fault{Parameter: "rules", Detail: feedmill.Rules(0).Fault()})
		}
	}
	for _, name := range feedmill.ReadingOptionNames {
		*u.Option(name) = c.query[name]
	}
	for _, fault := range s.CheckReading(u.ReadingOptions) {
		c.fault(fault)
	}
	for _, name := range append(s.Formats.Parameters(), "entry") {
		if text, named := c.query[name]; named && text == "" {
			c.fault(feedmill.Fault{Parameter: name, Detail: name + " must not be empty. Omit the parameter instead."})
		}
	}
	return format
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
	disposition := part.Header.Get("Content-Disposition")
	u.Charset = charsetOf(part.Header.Get("Content-Type"))
	wrapped := given == "" && s.uploads.isWrapped(part)
	if !wrapped {
		if u.Format, err = s.uploads.ofPart(given, part); err != nil {
			return answer{}, c.withFault(err)
		}
		s.uploads.checkParameters(c, u.Format)
	}
	u.Name, u.File = uploadName(c, disposition), fileName(disposition)
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	u.Body = &onlyPart{part: part, form: form, c: c}
	return s.unwrap(c, u, fileName(disposition), wrapped, do)
}

// onlyPart reads a part of a form after which there must not be another.
type onlyPart struct {
	part *multipart.Part
	form *multipart.Reader
	c    *call
	end  bool // there was none, and the form must not be asked again
}

func (p *onlyPart) Read(b []byte) (int, error) {
	if p.end {
		return 0, io.EOF
	}
	n, err := p.part.Read(b)
	if err == nil {
		return n, nil
	}
	if err != io.EOF {
		return n, formError(err)
	}
	if _, err := p.form.NextPart(); err == nil {
		return n, feedmill.Invalid("Send one file in the form, and its options as query parameters.", feedmill.Fault{Detail: "The form has more than one part."})
	} else if err != io.EOF {
		return n, formError(err)
	}
	p.end = true
	p.c.copyDone = p.c.copyTo != nil // what follows a form is of no use
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
