package ui

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// keptSecret stands for a secret that is stored.
const keptSecret = "***"

// showSource is the form of how a feed fetches its data.
func showSource(v *visit) error {
	head, err := headOf(v, "source")
	if err != nil {
		return err
	}
	if !head.Type.HasSource() {
		return v.redirect(feedPagePath(head.ID) + "/upload")
	}
	p := restPage{Head: &head, Replace: head.State == feedmill.FeedAuthRequired || v.r.URL.Query().Has("credential")}
	spec, err := sourceOf(head.DataFeed)
	if err != nil {
		return err
	}
	if err := p.fill(spec); err != nil {
		return err
	}
	return p.render(v, http.StatusOK)
}

// sourceOf is the definition of a feed as a change of it can have it.
func sourceOf(f client.DataFeed) (map[string]any, error) {
	spec := make(map[string]any)
	if len(f.Source) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(f.Source))
		decoder.UseNumber()
		if err := decoder.Decode(&spec); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"reading", "type", "rules"} {
		delete(spec, name)
	}
	spec["name"] = f.Name
	if s := f.Schedule; s != nil {
		spec["schedule"] = plainJSON(s)
	}
	if f.Mode != feedmill.ModeReplace {
		spec["mode"] = string(f.Mode)
	}
	if len(f.Key) > 0 {
		spec["key"] = plainJSON(f.Key)
	}
	return spec, nil
}

// plainJSON is a value as JSON has it.
func plainJSON(of any) (value any) {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // records can be written
	}
	_ = json.Unmarshal(text, &value)
	return value
}

// changeSource tries a changed definition, or saves it.
func changeSource(v *visit) error {
	head, err := headOf(v, "source")
	if err != nil {
		return err
	}
	p := restPage{Head: &head, Replace: head.State == feedmill.FeedAuthRequired}
	do, spec, err := p.receive(v)
	if err != nil {
		p.Fault = "The YAML is not valid: " + err.Error()
		return p.render(v, http.StatusUnprocessableEntity)
	}
	was, err := sourceOf(head.DataFeed)
	if err != nil {
		return err
	}
	changes, err := changedMembers(was, spec)
	if err != nil {
		return err
	}
	switch do {
	case "try":
		preview, err := v.api.PreviewChange(v.r.Context(), head.Type, head.ID, changes)
		return p.tried(v, preview, err)
	case "save":
		if _, err := v.api.UpdateRestFeed(v.r.Context(), head.ID, changes); err != nil {
			return p.refuse(v, err)
		}
		if head.State != feedmill.FeedAuthRequired {
			return v.redirect(feedPagePath(head.ID) + "/source?did=saved")
		}
		if _, err := v.api.RefreshDataFeed(v.r.Context(), head.ID); err != nil {
			if _, ok := refused(err); !ok {
				return err
			}
		}
		return v.redirect(feedPagePath(head.ID) + "?did=refreshing")
	}
	return p.render(v, http.StatusOK)
}

// changedMembers are the members of a definition that are not as they were; null for one that
// is gone. What stays is not sent, so that it is not taken back where it was changed meanwhile.
func changedMembers(was map[string]any, now []byte) ([]byte, error) {
	spec := make(map[string]any)
	decoder := json.NewDecoder(bytes.NewReader(now))
	decoder.UseNumber()
	if err := decoder.Decode(&spec); err != nil {
		return nil, err
	}
	changes := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		if before, ok := was[name]; !ok || !sameJSON(before, spec[name]) {
			changes[name] = spec[name]
		}
	}
	for name := range was {
		if _, ok := spec[name]; !ok {
			changes[name] = nil
		}
	}
	if len(changes) == 0 {
		changes["name"] = spec["name"]
	}
	return json.Marshal(changes)
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y)
}

// toCredential leads to what a feed signs in with: its definition, its connection, or the
// sign-in of a service.
func toCredential(v *visit) error {
	head, err := headOf(v, "source")
	if err != nil {
		return err
	}
	service := serviceOf(head.DataFeed)
	if service == "" {
		return v.redirect(feedPagePath(head.ID) + "/source?credential=replace")
	}
	for c, err := range v.api.Connections(v.r.Context()) {
		if err != nil {
			return err
		}
		if c.ServiceName == service {
			return v.redirect("/ui/connections/" + c.ID)
		}
	}
	link, err := v.api.CreationURL(v.r.Context(), service, "")
	if err != nil {
		return err
	}
	return v.redirect(link.URL)
}

// serviceOf is the service that a feed queries, empty for one that fetches a REST API.
func serviceOf(f client.DataFeed) string {
	var spec struct {
		ServiceName string `json:"serviceName"`
	}
	_ = json.Unmarshal(f.Source, &spec) // a definition without it has no service
	return spec.ServiceName
}

// Credential is what a visitor does about a credential that was refused.
func (h feedHead) Credential() string {
	if serviceOf(h.DataFeed) == "" {
		return "Update credential"
	}
	return "Sign in again"
}

// Kept reports whether a field has a secret that is stored.
func (p restPage) Kept(value string) bool { return p.Head != nil && value == keptSecret }

// Form reports whether the page has a form for the definition, and not only the YAML.
func (p restPage) Form() bool { return p.Head == nil || serviceOf(p.Head.DataFeed) == "" }

// Action is where the form is sent.
func (p restPage) Action() string {
	if p.Head == nil {
		return "/ui/feeds/new/rest"
	}
	return feedPagePath(p.Head.ID) + "/source"
}

// render shows the page of a new feed, or that of one that there is.
func (p *restPage) render(v *visit, status int) error {
	if p.Head == nil {
		return v.render(status, "rest", "Fetch a REST API", p)
	}
	return v.render(status, "feed_source", p.Head.Name, p)
}

// CompareWords says what is different from the current version.
func (p restPage) CompareWords() string {
	c := p.Preview.Compare
	if c == nil {
		return ""
	}
	var parts []string
	if c.Inserted != nil && c.Updated != nil && c.Deleted != nil {
		parts = append(parts, plural(*c.Inserted, "row")+" added, "+number(*c.Updated)+" updated, "+number(*c.Deleted)+" deleted")
	}
	for _, names := range []struct {
		word string
		list []string
	}{{"new columns: ", c.Columns.Added}, {"missing columns: ", c.Columns.Removed}, {"changed types: ", c.Columns.Changed}} {
		if len(names.list) > 0 {
			parts = append(parts, names.word+strings.Join(names.list, ", "))
		}
	}
	if len(c.Columns.Added)+len(c.Columns.Removed)+len(c.Columns.Changed) == 0 {
		parts = append(parts, "same columns and types")
	}
	return strings.Join(parts, "; ")
}

// tried shows what a try has fetched.
func (p *restPage) tried(v *visit, preview client.DataPreview, err error) error {
	if err != nil {
		return p.refuse(v, err)
	}
	p.Preview, p.Trace = &preview, waterfall(preview.Trace)
	p.Rows = objectRows(preview.Rows, preview.Columns)
	return p.render(v, http.StatusOK)
}

// receive reads the form and puts it and the YAML in step.
func (p *restPage) receive(v *visit) (do string, spec []byte, err error) {
	for name, field := range p.fields() {
		*field = strings.TrimSpace(v.r.PostFormValue(name))
	}
	p.YAML, p.Sent = v.r.PostFormValue("yaml"), true
	do = v.r.PostFormValue("do")
	spec, err = p.read(v.r.PostFormValue("from") == "yaml" || do == "read" || !p.Form())
	return do, spec, err
}
