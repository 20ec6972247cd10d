package ui

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/share"
)

const (
	// strangerForm is the maximum size of a form from a visitor who has not signed in, and
	// strangerFields its maximum number of fields.
	strangerForm, strangerFields = 16 << 10, 64
	// strangerTime is how long such a visitor may take to send a form and to fetch a page.
	strangerTime = 10 * time.Second
	// maxForm is the maximum size of a form, the API's limit for a definition, and
	// maxFields its maximum number of fields.
	maxForm, maxFields = 1 << 20, 32_768
	// formTime is how long a signed-in visitor may take to send a form.
	formTime = 30 * time.Second
	// pageTime is how long a page may take to fetch.
	pageTime = 90 * time.Second
	// uploadFields is the maximum size of what precedes the file in an upload form.
	uploadFields = 64 << 10
)

const (
	// largeForm is the size from which a form takes slots while it is worked on, one for
	// each largeForm bytes. One workspace may hold formsEach slots.
	largeForm              = 64 << 10
	formsEach, formSlots   = 4 << 20 / largeForm, 12 << 20 / largeForm
	formsWaiting           = 256
	formType, uploadedType = "application/x-www-form-urlencoded", "multipart/form-data"
)

func newFormSlots() *share.Slots { return share.NewSlots(formSlots, formsEach, formsWaiting) }

// wantForm refuses a form of another type, or one that announces more than most bytes,
// before anything of it is read.
func (v *visit) wantForm(mediaType string, most int64) error {
	if v.r.Body == http.NoBody && mediaType == formType { // a form without fields
		return nil
	}
	if given, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type")); err != nil || given != mediaType {
		return &client.Problem{Status: http.StatusUnsupportedMediaType, Title: "Unsupported form", Detail: "Send this form as " + mediaType + "."}
	}
	if v.r.ContentLength > most {
		return formTooLarge(most)
	}
	return nil
}

func formTooLarge(most int64) error {
	return &client.Problem{Status: http.StatusRequestEntityTooLarge, Title: "Form too large", Detail: fmt.Sprintf("This form can have at most %d KiB. Shorten its fields and send it again.", most>>10)}
}

// readStrangersForm reads a form of a visitor who has not signed in.
func (v *visit) readStrangersForm() error {
	v.readWithin(strangerTime)
	return v.readForm(strangerForm, strangerFields)
}

// readSignedInForm reads a form of a visitor of a workspace. A large one waits for slots of
// the workspace, which [visit.release] gives back.
func (v *visit) readSignedInForm(workspace string) error {
	if err := v.wantForm(formType, maxForm); err != nil {
		return err
	}
	if size := v.r.ContentLength; size < 0 || size >= largeForm {
		if size < 0 {
			size = maxForm
		}
		release, err := v.s.forms.TakeSome(share.For(v.r.Context(), workspace), int(size/largeForm)+1)
		if errors.Is(err, share.ErrCrowded) {
			return &client.Problem{Status: http.StatusTooManyRequests, Title: "Too many forms", Detail: fmt.Sprintf("%d large forms of this workspace already wait. Send this one again in a moment.", formsWaiting)}
		}
		if err != nil {
			return err
		}
		v.release = release
	}
	v.readWithin(formTime)
	return v.readForm(maxForm, maxFields)
}

// readWithin bounds how long the visitor may take to send the body. A request without one
// gets no deadline: at its end the connection would count as lost.
func (v *visit) readWithin(d time.Duration) {
	if v.r.Body != http.NoBody {
		http.NewResponseController(v.w).SetReadDeadline(time.Now().Add(d)) // a recorder in a test has none
	}
}

// readForm reads a form of at most so many bytes and fields.
func (v *visit) readForm(most int64, fields int) error {
	if err := v.wantForm(formType, most); err != nil {
		return err
	}
	var text strings.Builder
	text.Grow(int(max(v.r.ContentLength, 0)))
	n, err := io.Copy(&text, io.LimitReader(v.r.Body, most+1))
	if err != nil {
		return &client.Problem{Status: http.StatusBadRequest, Title: "Incomplete form", Detail: "The form did not arrive whole. Send it again."}
	}
	if n > most {
		return formTooLarge(most)
	}
	if v.r.Body != http.NoBody {
		http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // at its end the connection would count as lost
	}
	values, err := parseForm(text.String(), fields)
	if err != nil {
		return err
	}
	v.r.PostForm, v.r.Form = values, values
	v.over.once = values.Get("once")
	return nil
}

// parseForm reads the fields of a form. Their number is bounded first: a field of two bytes
// takes a hundred in memory.
func parseForm(text string, most int) (url.Values, error) {
	if n := strings.Count(text, "&") + 1; n > most {
		return nil, &client.Problem{Status: http.StatusRequestEntityTooLarge, Title: "Form too large", Detail: fmt.Sprintf("This form can have at most %d fields; got %d.", most, n)}
	}
	values, err := parseFields(text)
	if err != nil {
		return nil, &client.Problem{Status: http.StatusBadRequest, Title: "Invalid form", Detail: "The form is not valid application/x-www-form-urlencoded text. Go back and send it again."}
	}
	return values, nil
}

// parseFields is [url.ParseQuery] for more than 10,000 fields, of which that function
// reads none.
func parseFields(text string) (url.Values, error) {
	values := make(url.Values)
	for field := range strings.SplitSeq(text, "&") {
		if field == "" {
			continue
		}
		name, value, _ := strings.Cut(field, "=")
		if strings.Contains(field, ";") {
			return nil, errors.New("a semicolon separates fields")
		}
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, err
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return nil, err
		}
		values[name] = append(values[name], value)
	}
	return values, nil
}

// uploadBody is the body of an upload form. Until its file is found it ends after
// uploadFields bytes; from there on the API's limits apply.
type uploadBody struct {
	io.ReadCloser
	left int64
	file bool
}

func (b *uploadBody) Read(p []byte) (int, error) {
	if b.file {
		return b.ReadCloser.Read(p)
	}
	if b.left <= 0 {
		return 0, formTooLarge(uploadFields)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
