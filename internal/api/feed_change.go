package api

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// maxDescription is how many characters the description of a feed may have.
const maxDescription = 2000

// fetchMembers are the members of a feed that fetches its data which can be
// changed, beside its name and description.
var fetchMembers = []string{
	"request", "auth", "response", "pagination", "incremental", "retry", "rateLimit", "errors", "schedule", "mode", "key",
}

func (s *Server) changeFeed(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	var patch feedmill.FeedPatch
	if v, ok := body.get("name"); ok {
		patch.Name = new(body.checkName("name", v))
	}
	if v, ok := body.get("description"); ok {
		patch.Description = body.description(v)
	}
	patch.Spec = body.pick(fetchMembers)
	if err := body.done(); err != nil {
		return answer{}, err
	}
	if patch.Spec != nil {
		if err := s.wantFetching(c, body); err != nil {
			return answer{}, err
		}
	}
	f, err := s.Feeds.Change(c.ctx(), c.who.Workspace, id, patch)
	if err != nil {
		return answer{}, inSentences(err)
	}
	return feedAnswer(http.StatusOK, f), nil
}

// wantFetching refuses to change how an upload fetches its data.
func (s *Server) wantFetching(c *call, body *object) error {
	f, err := s.feed(c)
	if err != nil || f.Type != feedmill.FeedUpload {
		return err
	}
	for _, m := range body.members {
		if slices.Contains(fetchMembers, m.name) {
			body.fault(m.name, "This feed is an upload, which fetches nothing; only its name and description can be changed.")
		}
	}
	return c.refusal()
}

// pick makes an object of those members that have one of the names, nil where
// none has.
func (o *object) pick(names []string) []byte {
	var b bytes.Buffer
	for _, name := range names {
		v, ok := o.get(name)
		if !ok {
			continue
		}
		separator := byte(',')
		if b.Len() == 0 {
			separator = '{'
		}
		b.WriteByte(separator)
		quoted, err := jsontext.AppendQuote(b.AvailableBuffer(), name)
		if err != nil {
			panic(err) // the names are the program's own
		}
		b.Write(quoted)
		b.WriteByte(':')
		b.Write(v.raw)
	}
	if b.Len() == 0 {
		return nil
	}
	b.WriteByte('}')
	return b.Bytes()
}

// description reads a text of several lines; null is none.
func (o *object) description(v value) *string {
	if v.kind == 'n' {
		return new("")
	}
	text, ok := o.text("description", v)
	if !ok {
		return nil
	}
	switch n := len([]rune(text)); {
	case n > maxDescription:
		o.fault("description", fmt.Sprintf("This may have at most %d characters; it has %d.", maxDescription, n))
	case slices.Contains([]byte(text), 0):
		o.fault("description", "This must not hold the character U+0000.")
	}
	return &text
}
