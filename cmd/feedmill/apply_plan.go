package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// action is what an apply does with an object.
type action byte

const (
	create action = '+'
	change action = '~'
	remove action = '-'
	leave  action = '='
)

// planStep is what an apply does with one object.
type planStep struct {
	action action
	// doc is what the files say; it is nil for an object that is deleted.
	doc *document
	// stored is the object on the server, with its definition; its id is empty for a new one.
	stored     client.Definition
	definition strictjson.Value
	// members are the changed members of the definition, and details the lines that describe them.
	members []string
	details []string
	// label, set and secrets report what changes besides the definition.
	label, set, secrets bool
	handle              client.Handle
}

// plan is what an apply does, in its order.
type plan struct {
	steps []*planStep
	// warnings are about documents that can only be compared in part.
	warnings []string
}

func (p *plan) count(a action) (n int) {
	for _, s := range p.steps {
		if s.action == a {
			n++
		}
	}
	return n
}

func (p *plan) changes() bool { return p.count(leave) < len(p.steps) }

// planner compares documents with the objects of a server.
type planner struct {
	client *client.Client
	set    string
	prune  bool
	stored []client.Definition
}

// plan reads all objects in pages of 500 and returns what to do.
func (pl *planner) plan(ctx context.Context, documents []*document) (*plan, error) {
	for _, kind := range feedmill.DefinitionKinds {
		for d, err := range paged(pl.client, 0).Definitions(ctx, kind) {
			if err != nil {
				return nil, err
			}
			pl.stored = append(pl.stored, d)
		}
	}
	var p plan
	var errs []error
	mentioned := make(map[string]*document)
	for _, kind := range feedmill.DefinitionKinds {
		for _, d := range documents {
			if d.kind != kind {
				continue
			}
			s, err := pl.compare(d, &p)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if other := mentioned[s.stored.ID]; s.stored.ID != "" && other != nil {
				errs = append(errs, d.errorf(0, "%s is the same object as %s at %s", d, other, other.where()))
			}
			mentioned[s.stored.ID] = d
			p.steps = append(p.steps, s)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := pl.compareSecrets(ctx, &p); err != nil {
		return nil, err
	}
	if pl.prune {
		for _, kind := range slices.Backward(feedmill.DefinitionKinds) {
			for _, stored := range pl.stored {
				if stored.Kind == kind && stored.Set == pl.set && mentioned[stored.ID] == nil {
					p.steps = append(p.steps, &planStep{action: remove, stored: stored})
				}
			}
		}
	}
	return &p, nil
}

// find returns the object that a document means: the one with its id, or else with its handle.
func (pl *planner) find(d *document) (client.Definition, error) {
	var byID, byName client.Definition
	for _, s := range pl.stored {
		if s.ID == d.id {
			byID = s
		}
		if s.Kind == d.kind && s.Name == d.name {
			byName = s
		}
	}
	if d.id != "" && byID.ID != "" && byName.ID != "" && byID.ID != byName.ID {
		return byID, d.errorf(0, "the handle %s belongs to %s, not to %s; change name or id", d.name, byName.ID, d.id)
	}
	if byID.ID != "" && d.id != "" {
		return byID, nil
	}
	return byName, nil
}

// compare returns the step for a document, without its secrets.
func (pl *planner) compare(d *document, p *plan) (*planStep, error) {
	stored, err := pl.find(d)
	if err != nil {
		return nil, err
	}
	s := &planStep{action: leave, doc: d, stored: stored, handle: client.Handle{Name: d.name, Set: pl.set}}
	if s.handle.Secrets, err = d.digest(); err != nil {
		return nil, err
	}
	if pl.set == "" {
		s.handle.Set = stored.Set
	} else if stored.Set != "" && stored.Set != pl.set {
		return nil, d.errorf(0, "%s belongs to the set %s; remove it there first, or apply it with --set %s", d, stored.Set, stored.Set)
	}
	normalize(d.kind, &d.definition)
	if stored.ID == "" {
		return s, s.new()
	}
	ok := false
	if s.definition, ok = strictjson.Read(stored.Definition, strictjson.Part{}, func(string, string) bool { return true }); !ok {
		return nil, fmt.Errorf("the definition of %s cannot be read", stored.ID)
	}
	normalize(d.kind, &s.definition)
	if textOf(s.definition.Member("type")) == string(feedmill.FeedUpload) && d.definition.Member("format") == nil {
		s.definition.Remove("format") // which the file determines
	}
	if d.definition.Member("tableName") == nil {
		s.definition.Remove("tableName") // its default is set once, at the creation
	}
	fixed := []string{"type", "connector"}
	if d.kind == feedmill.DefinedSQLView {
		fixed = []string{"serviceName"}
		if d.label != stored.Label {
			return nil, d.errorf(0, "label of %s, which is the name of the view, cannot change from %s to %s; choose another name, or delete the object first", d, stored.Label, d.label)
		}
	}
	for _, name := range fixed {
		if wanted, is := textOf(d.definition.Member(name)), textOf(s.definition.Member(name)); wanted != is {
			return nil, d.errorf(0, "%s of %s cannot change from %s to %s; choose another name, or delete the object first", name, d, is, wanted)
		}
	}
	s.label, s.set = d.label != stored.Label && d.kind != feedmill.DefinedConnection, s.handle.Set != stored.Set || d.name != stored.Name
	if s.label {
		s.details = append(s.details, fmt.Sprintf("label: %q -> %q", stored.Label, d.label))
	}
	if s.handle.Set != stored.Set {
		s.details = append(s.details, fmt.Sprintf("set: %q -> %q", stored.Set, s.handle.Set))
	}
	if d.name != stored.Name {
		s.details = append(s.details, fmt.Sprintf("name: %q -> %q", stored.Name, d.name))
	}
	s.diff()
	p.warnings = append(p.warnings, s.literals()...)
	if len(s.details) > 0 {
		s.action = change
	}
	return s, nil
}

// new makes s the step that creates an object.
func (s *planStep) new() error {
	s.action = create
	for _, pointer := range s.doc.kept() {
		return s.doc.errorf(0, "%s: {keep: true} keeps a stored secret, and %s does not exist yet; use {env: NAME} or {file: path}", pointer, s.doc)
	}
	if textOf(s.doc.definition.Member("type")) == string(feedmill.FeedUpload) && s.doc.upload == "" {
		return s.doc.errorf(0, "%s does not exist yet; set file to the data of the upload", s.doc)
	}
	if s.doc.id != "" {
		s.details = append(s.details, s.doc.id+" does not exist here")
	}
	return nil
}

// diff finds the changed members.
func (s *planStep) diff() {
	var names []string
	for _, v := range []*strictjson.Value{&s.definition, &s.doc.definition} {
		for _, m := range v.Members {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	for _, name := range names {
		wanted, stored := s.doc.definition.Member(name), s.definition.Member(name)
		if !sameValue(wanted, stored) {
			s.members = append(s.members, name)
			s.describe("/"+strictjson.EscapePointer(name), wanted, stored)
		}
	}
}

// describe adds a line for each value that changes. Secrets are [feedmill.Hidden] in both.
func (s *planStep) describe(pointer string, wanted, stored *strictjson.Value) {
	if wanted != nil && stored != nil && wanted.Kind == '{' && stored.Kind == '{' {
		for _, m := range stored.Members {
			if v := wanted.Member(m.Name); !sameValue(v, &m.Value) {
				s.describe(pointer+"/"+strictjson.EscapePointer(m.Name), v, &m.Value)
			}
		}
		for _, m := range wanted.Members {
			if stored.Member(m.Name) == nil {
				s.describe(pointer+"/"+strictjson.EscapePointer(m.Name), &m.Value, nil)
			}
		}
		return
	}
	s.details = append(s.details, pointer+": "+short(stored, pointer)+" -> "+short(wanted, pointer))
}

// short is a value on one line. The values of headers and credentials can be secrets.
func short(v *strictjson.Value, pointer string) string {
	if v == nil {
		return "(none)"
	}
	if strings.Contains(pointer, "headers") || strings.Contains(pointer, "credentials") || strings.Contains(pointer, "/oauth2") || strings.Contains(pointer, "/auth") || strings.Contains(pointer, "/tls") {
		return feedmill.Hidden
	}
	text := []rune(string(v.Append(nil)))
	if len(text) > 100 {
		return string(text[:100]) + "…"
	}
	return string(text)
}

// literals are warnings about secrets that are in the file itself, which cannot be compared.
func (s *planStep) literals() (warnings []string) {
	var walk func(wanted, stored *strictjson.Value, pointer string)
	walk = func(wanted, stored *strictjson.Value, pointer string) {
		if wanted == nil || s.doc.kind == feedmill.DefinedSubscription {
			return
		}
		if _, isReference := s.doc.secrets[pointer]; textOf(stored) == feedmill.Hidden && !isReference && textOf(wanted) != feedmill.Hidden {
			warnings = append(warnings, fmt.Sprintf("%s:%d: %s is a secret, so changes of it are not detected; write a reference: {env: NAME} or {file: path}", s.doc.file, wanted.Line, pointer))
			return
		}
		for i := range stored.Members {
			name := stored.Members[i].Name
			walk(wanted.Member(name), &stored.Members[i].Value, pointer+"/"+strictjson.EscapePointer(name))
		}
		for i := range min(len(stored.Items), len(wanted.Items)) {
			walk(&wanted.Items[i], &stored.Items[i], pointer+"/"+itoa(i))
		}
	}
	walk(&s.doc.definition, &s.definition, "")
	return warnings
}

// compareSecrets asks the server which objects have other secrets than their documents.
func (pl *planner) compareSecrets(ctx context.Context, p *plan) error {
	var asked []*planStep
	for _, s := range p.steps {
		if s.stored.ID != "" && s.handle.Secrets != "" {
			asked = append(asked, s)
		}
	}
	for some := range slices.Chunk(asked, 500) {
		var items []client.DefinitionSecrets
		for _, s := range some {
			items = append(items, client.DefinitionSecrets{ID: s.stored.ID, Secrets: s.handle.Secrets})
		}
		same, err := pl.client.CompareDefinitions(ctx, items)
		if err != nil {
			return err
		}
		if len(same) != len(some) {
			return errors.New("the response to the comparison of secrets is incomplete")
		}
		for i, s := range some {
			if !same[i].Same {
				s.action, s.secrets = change, true
				what := "secrets"
				if s.doc.upload != "" {
					what = "file"
				}
				s.details = append(s.details, what)
			}
		}
	}
	return nil
}

// body is the JSON text of a value.
func body(v strictjson.Value) json.RawMessage { return v.Append(nil) }
