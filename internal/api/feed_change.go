package api

import (
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// fetchMembers are the members of a feed that fetches its data which can be
// changed, beside its name and description.
var fetchMembers = []string{
	"serviceName", "viewName", "query", "request", "auth", "tls", "response", "columns", "otherColumns", "deleted", "fullEvery", "pagination", "incremental", "each", "job", "retry", "rateLimit", "errors", "schedule", "mode", "key",
}

// definitionMembers are fetchMembers and those that uploads have, too.
var definitionMembers = append(slices.Clone(fetchMembers), "rules")

func (s *Server) changeFeed(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	c.accepts = definitionTypes
	v, err := c.readDefinition()
	if err != nil {
		return answer{}, err
	}
	if v.Kind != '{' {
		return answer{}, c.malformed("", "The body must be an object.")
	}
	c.noteFields(v)
	body := strictjson.NewObject(&v, "", c.faults.Note)
	var patch feedmill.FeedPatch
	if v, ok := body.Get("name"); ok {
		patch.Name = new(v.Name(feedmill.MaxNameLen))
	}
	if v, ok := body.Get("description"); ok {
		patch.Description = feedmill.ReadText(v)
	}
	readPolicy(body, &patch)
	if patch.Spec = pickMembers(body, definitionMembers); patch.Spec != nil {
		if err := s.wantFetching(c, body, &patch); err != nil {
			return answer{}, err
		}
	}
	if patch.Spec != nil {
		patch.Spec = pickMembers(body, slices.Concat(definitionMembers, unknownMembers(body)))
	}
	for name := range body.All() {
		patch.Fields = append(patch.Fields, name)
	}
	if patch.Refused = c.finish(body); patch.Refused != nil && patch.Spec == nil {
		return answer{}, patch.Refused
	}
	f, err := s.Feeds.Change(c.ctx(), c.who.Workspace, id, patch)
	if err != nil {
		return answer{}, inSentences(err)
	}
	return feedAnswer(http.StatusOK, f), nil
}

// wantFetching notes that an upload fetches nothing that could be changed. Its rules
// can be.
func (s *Server) wantFetching(c *call, body *strictjson.Object, patch *feedmill.FeedPatch) error {
	f, err := s.feed(c)
	if err != nil || f.Type.HasSource() {
		return err
	}
	patch.Spec, patch.Rules = nil, feedmill.ReadRules(body)
	for name, f := range body.All() {
		if slices.Contains(fetchMembers, name) {
			f.Fault(name + " applies only to feeds that fetch their data; this feed is an upload. Send new data with PUT to its data URL.")
		}
	}
	return nil
}

// unknownMembers are the names of members that are left to the definition of a feed, which
// refuses them together with its other faults. One that is null would only remove
// what is not there, and is refused here.
func unknownMembers(body *strictjson.Object) (names []string) {
	for name, f := range body.All() {
		if !body.Knows(name) && f.Kind != 'n' {
			names = append(names, name)
		}
	}
	return names
}

// pickMembers makes an object of those members that have one of the names, nil where
// none has.
func pickMembers(o *strictjson.Object, names []string) []byte {
	picked := strictjson.Value{Kind: '{'}
	for _, name := range names {
		if f, ok := o.Get(name); ok {
			picked.Set(name, *f.Value)
		}
	}
	if len(picked.Members) == 0 {
		return nil
	}
	return picked.Append(nil)
}
