package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// maxDepth is how deeply a JSON body may nest.
const maxDepth = 64

// value is a JSON value that has been read completely: a scalar as it stands in
// the text, or the parts of an array or object.
type value struct {
	kind    jsontext.Kind
	raw     jsontext.Value
	members []member
	items   []value
}

type member struct {
	name  string
	value value
}

// readJSON reads the whole body as one JSON value. Duplicate keys become faults
// and reading goes on; a text that is no JSON ends it.
func (c *call) readJSON() (value, error) {
	if err := c.wantContentType("application/json"); err != nil {
		return value{}, err
	}
	data, err := io.ReadAll(c.r.Body)
	if err != nil {
		return value{}, bodyError(err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return value{}, c.malformed("", "The body is empty; send a JSON object.")
	}
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	v, err := c.readValue(d, "", 0)
	if err != nil {
		return value{}, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return value{}, c.malformed("", fmt.Sprintf("Something follows the JSON value after byte %d; send one value only.", d.InputOffset()))
	}
	return v, nil
}

func (c *call) readValue(d *jsontext.Decoder, at string, depth int) (value, error) {
	kind := d.PeekKind()
	v := value{kind: kind}
	if kind != '{' && kind != '[' {
		raw, err := d.ReadValue()
		if err != nil {
			return v, c.syntaxError(err, at)
		}
		v.raw = raw.Clone()
		return v, nil
	}
	if depth == maxDepth {
		return v, c.malformed(at, fmt.Sprintf("The JSON nests deeper than %d levels.", maxDepth))
	}
	if _, err := d.ReadToken(); err != nil {
		return v, c.syntaxError(err, at)
	}
	seen := make(map[string]bool)
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		if kind == '[' {
			item, err := c.readValue(d, fmt.Sprintf("%s/%d", at, len(v.items)), depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
			continue
		}
		token, err := d.ReadToken()
		if err != nil {
			return v, c.syntaxError(err, at)
		}
		name := token.String()
		below := at + "/" + escapePointer(name)
		if seen[name] {
			c.fault(feedmill.Fault{Pointer: below, Detail: "This key stands more than once in its object; name it once."})
		}
		seen[name] = true
		item, err := c.readValue(d, below, depth+1)
		if err != nil {
			return v, err
		}
		v.members = append(v.members, member{name, item})
	}
	_, err := d.ReadToken()
	return v, c.syntaxError(err, at)
}

// malformed ends the reading of a body; what was found before is listed too.
func (c *call) malformed(pointer, detail string) error {
	c.fault(feedmill.Fault{Pointer: pointer, Detail: detail})
	return c.refusal()
}

func (c *call) syntaxError(err error, at string) error {
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		reason := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "it ends too early"
		}
		return c.malformed(string(syntax.JSONPointer), fmt.Sprintf("This is no valid JSON at byte %d: %s.", syntax.ByteOffset, reason))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.malformed(at, "The JSON ends too early.")
	}
	return err
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
	given := c.r.Header.Get("Content-Type")
	if given == "" {
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(given)
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		err = errors.ErrUnsupported
	}
	if err != nil || mediaType != want {
		return &feedmill.Error{
			Kind: feedmill.ErrUnsupported, Detail: "Send the body as " + want + " in UTF-8 (curl does with --json).",
			Faults: []feedmill.Fault{{Header: "Content-Type", Detail: "This format is not taken here."}},
		}
	}
	return nil
}

func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
