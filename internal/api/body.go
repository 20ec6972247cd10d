package api

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
)

// readBody reads the whole body. What the client says of its length saves
// copying, up to a size that costs nothing to believe.
func (c *call) readBody() ([]byte, error) {
	const believed = 64 << 10
	var b bytes.Buffer
	b.Grow(int(min(max(c.r.ContentLength, 0), believed)) + bytes.MinRead)
	if _, err := b.ReadFrom(c.r.Body); err != nil {
		return nil, bodyError(err)
	}
	return b.Bytes(), nil
}

// readJSON reads the whole body as one JSON value. Duplicate keys become faults
// and reading goes on; a text that is no JSON ends it.
func (c *call) readJSON() (value, error) {
	if err := c.wantContentType("application/json"); err != nil {
		return value{}, err
	}
	data, err := c.readBody()
	if err != nil {
		return value{}, err
	}
	return c.parseJSON(data, part{})
}

// bodyError tells a body that is too large from one that broke off.
func bodyError(err error) error {
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return err
	}
	return fmt.Errorf("%w: reading the body: %w", errAborted, err)
}

// errAborted marks a request whose body did not arrive; nobody waits for the answer.
var errAborted = &feedmill.Error{Kind: feedmill.ErrInvalid, Type: "incomplete-body", Detail: "The body ended before its announced length, or came too slowly."}

func (c *call) wantContentType(want string) error {
	if err := c.wantPlain(); err != nil {
		return err
	}
	if given, err := c.contentType(); err != nil || (given != "" && given != want) {
		return unsupported(want)
	}
	return nil
}

// wantPlain refuses a body that is compressed.
func (c *call) wantPlain() error {
	for _, coding := range c.r.Header.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return &feedmill.Error{
				Kind: feedmill.ErrUnsupported, Detail: "Send the body as it is, without a Content-Encoding.",
				Faults: []feedmill.Fault{{Header: "Content-Encoding", Detail: "No encoding but identity is taken here."}},
			}
		}
	}
	return nil
}

// contentType is the media type of the body, empty where the client does not
// say. A text in another encoding than UTF-8 is an error.
func (c *call) contentType() (string, error) {
	given := c.r.Header.Get("Content-Type")
	if given == "" || given == "application/json" {
		return given, nil
	}
	mediaType, params, err := mime.ParseMediaType(given)
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		err = errors.ErrUnsupported
	}
	return mediaType, err
}

// unsupported is the refusal of a body that is in none of the formats wanted.
func unsupported(want string) error {
	return &feedmill.Error{
		Kind: feedmill.ErrUnsupported, Detail: "Send the body as " + want + " in UTF-8 (curl does with --json).",
		Faults: []feedmill.Fault{{Header: "Content-Type", Detail: "This format is not taken here."}},
	}
}

func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
