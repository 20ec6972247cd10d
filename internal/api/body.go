package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readBody reads the whole body. A large one has places of its workspace before more
// than its beginning is read; then the client may be believed what it says of the length.
func (c *call) readBody() ([]byte, error) {
	var b bytes.Buffer
	size := c.r.ContentLength
	if size < 0 {
		if _, err := io.CopyN(&b, c.r.Body, largeBody); errors.Is(err, io.EOF) {
			return b.Bytes(), nil
		} else if err != nil {
			return nil, bodyError(err)
		}
		size = c.maxBody
	}
	if size = min(size, c.maxBody); size >= largeBody {
		if err := c.takeBody(size); err != nil {
			return nil, err
		}
	}
	if c.r.ContentLength >= 0 {
		b.Grow(int(min(size, bodiesEach*largeBody)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(c.r.Body); err != nil {
		return nil, bodyError(err)
	}
	return b.Bytes(), nil
}

// readJSON reads the whole body as one JSON value. Duplicate keys become faults
// and reading goes on; a text that is no JSON ends it.
func (c *call) readJSON() (strictjson.Value, error) {
	if err := c.wantContentType("application/json"); err != nil {
		return strictjson.Value{}, err
	}
	data, err := c.readBody()
	if err != nil {
		return strictjson.Value{}, err
	}
	return c.parseJSON(data, strictjson.Part{})
}

// definitionTypes are the media types of a definition that people write.
const definitionTypes = "application/json, application/yaml"

// readDefinition reads the whole body as one value that people write, in JSON or
// in YAML. The value's text is JSON in any case.
func (c *call) readDefinition() (strictjson.Value, error) {
	given, err := c.contentType()
	if err != nil || given != "application/yaml" && given != "application/x-yaml" && given != "text/yaml" {
		if given != "" && given != "application/json" || err != nil {
			return strictjson.Value{}, unsupported("application/json or application/yaml")
		}
		return c.readJSON()
	}
	if err := c.wantPlain(); err != nil {
		return strictjson.Value{}, err
	}
	data, err := c.readBody()
	if err != nil {
		return strictjson.Value{}, err
	}
	v, ok := strictjson.ReadYAML(data, c.faults.Note)
	if !ok {
		return v, c.refusal()
	}
	return v, nil
}

// parseJSON reads a part of the body in the manner of readJSON.
func (c *call) parseJSON(data []byte, p strictjson.Part) (strictjson.Value, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return strictjson.Value{}, c.malformed(p.At, "The body is empty. Send a JSON object.")
	}
	v, ok := strictjson.Read(data, p, c.faults.Note)
	if !ok {
		return v, c.refusal()
	}
	return v, nil
}

// readObject reads the body, which must be a JSON object.
func (c *call) readObject() (*strictjson.Object, error) {
	v, err := c.readJSON()
	if err != nil {
		return nil, err
	}
	if v.Kind != '{' {
		return nil, c.malformed("", "The body must be a JSON object.")
	}
	c.noteFields(v)
	return strictjson.NewObject(&v, "", c.faults.Note), nil
}

// readOptionalObject is readObject where no body at all means an empty object.
func (c *call) readOptionalObject() (*strictjson.Object, error) {
	data, err := c.readBody()
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return strictjson.NewObject(&strictjson.Value{Kind: '{'}, "", c.faults.Note), nil
	}
	c.r.Body = io.NopCloser(bytes.NewReader(data))
	return c.readObject()
}

// readNothing reads the body of an operation that takes none. A client that
// sends something means something by it, which would be lost; an empty object
// says nothing.
func (c *call) readNothing() error {
	data, err := c.readBody()
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return c.refusal()
	}
	v, err := c.parseJSON(data, strictjson.Part{})
	if err != nil {
		return err
	}
	if v.Kind != '{' {
		return c.malformed("", "The operation does not accept a body. Send no body, or {}.")
	}
	return c.finish(strictjson.NewObject(&v, "", c.faults.Note))
}

// needName reads the name of a resource that must have one.
func needName(body *strictjson.Object) string {
	f, ok := body.Need("name")
	if !ok {
		return ""
	}
	return f.Name(feedmill.MaxNameLen)
}

// finish ends the reading of a body: it refuses the request where anything in it
// is wrong.
func (c *call) finish(body *strictjson.Object) error {
	body.RefuseUnknown()
	return c.refusal()
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
var errAborted = &feedmill.Error{Kind: feedmill.ErrInvalid, Type: "incomplete-body", Detail: "The body ended before its Content-Length, or arrived too slowly."}

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
				Kind: feedmill.ErrUnsupported, Detail: "Send the body uncompressed, without a Content-Encoding header.",
				Faults: []feedmill.Fault{{Header: "Content-Encoding", Detail: "Content-Encoding must be identity or absent."}},
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
		Kind: feedmill.ErrUnsupported, Detail: "Send the body as " + want + " in UTF-8. With curl, use --json.",
		Faults: []feedmill.Fault{{Header: "Content-Type", Detail: "Content-Type must be " + want + "."}},
	}
}
