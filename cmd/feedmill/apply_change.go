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

// applier makes the changes of a plan.
type applier struct {
	client  *client.Client
	secrets *secretsFile
}

// do makes the change of a step.
func (a *applier) do(ctx context.Context, s *planStep) error {
	var err error
	switch s.action {
	case create:
		err = a.create(ctx, s)
	case change:
		err = a.change(ctx, s)
	case remove:
		err = a.remove(ctx, s.stored)
	}
	if err != nil && s.doc != nil {
		return s.doc.refused(err)
	}
	return err
}

// refused is the error of a request for a document, with the line of each fault that the server
// found.
func (d *document) refused(err error) error {
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok || len(problem.Errors) == 0 {
		return fmt.Errorf("%s: %s: %w", d.where(), d, err)
	}
	errs := []error{d.errorf(0, "%s: %s", d, problem.Detail)}
	for _, f := range problem.Errors {
		line := int32(0)
		if v := d.definition.At(nearest(&d.definition, f.Pointer)); v != nil {
			line = v.Line
		}
		errs = append(errs, d.errorf(line, "%s: %s", strings.TrimSuffix(placeOf(f), ":"), f.Detail))
	}
	return errors.Join(errs...)
}

// nearest is the longest part of a JSON Pointer that leads to a value.
func nearest(v *strictjson.Value, pointer string) string {
	for pointer != "" && (pointer[0] != '/' || v.At(pointer) == nil) {
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
	return pointer
}

func (a *applier) remove(ctx context.Context, d client.Definition) error {
	switch d.Kind {
	case feedmill.DefinedConnection:
		return a.client.DeleteConnection(ctx, d.ID)
	case feedmill.DefinedSQLView:
		return a.removeSQLView(ctx, d)
	case feedmill.DefinedSubscription:
		return a.client.DeleteSubscription(ctx, d.ID)
	}
	return a.client.DeleteDataFeed(ctx, d.ID)
}

// create creates an object with its handle in one transaction, so that an apply that is
// interrupted and repeated does not create it twice.
func (a *applier) create(ctx context.Context, s *planStep) error {
	d := s.doc
	definition := d.revealed(d.definition, "")
	managed := client.Managed(s.handle)
	switch d.kind {
	case feedmill.DefinedConnection:
		_, err := a.client.CreateDefined(ctx, d.kind, "", body(definition), managed)
		return err
	case feedmill.DefinedSQLView:
		return a.writeSQLView(ctx, s)
	case feedmill.DefinedSubscription:
		definition.Remove("state")
		definition.Set("name", strictjson.String(d.label))
		made, err := a.client.CreateDefined(ctx, d.kind, "", body(definition), managed)
		if err != nil {
			return err
		}
		var issued struct{ ID, SigningSecret string }
		if err := json.Unmarshal(made, &issued); err != nil {
			return err
		}
		if err := a.secrets.add(d.name, issued.SigningSecret); err != nil {
			return err
		}
		if state := d.definition.Member("state"); state != nil {
			_, err = a.client.ChangeDefined(ctx, d.kind, issued.ID, body(strictjson.Value{Kind: '{', Members: []strictjson.Member{{Name: "state", Value: *state}}}), managed)
		}
		return err
	}
	return a.createFeed(ctx, s, definition)
}

// feedPolicies are the members of an upload that are set apart from its data.
var feedPolicies = []string{"description", "tableName", "keep", "schemaPolicy", "expectEvery", "expect"}

func (a *applier) createFeed(ctx context.Context, s *planStep, definition strictjson.Value) error {
	d := s.doc
	kind := feedmill.FeedType(textOf(definition.Member("type")))
	definition.Remove("type")
	managed := client.Managed(s.handle)
	if kind != feedmill.FeedUpload {
		definition.Set("name", strictjson.String(d.label))
		_, err := a.client.CreateDefined(ctx, d.kind, kind, body(definition), managed)
		return err
	}
	upload, file, err := d.openUpload()
	if err != nil {
		return err
	}
	defer file.Close()
	upload.Name = d.label
	made, err := a.client.CreateDataFeed(ctx, upload, managed)
	if err != nil {
		return err
	}
	policies := strictjson.Value{Kind: '{'}
	for _, name := range feedPolicies {
		if m := definition.Member(name); m != nil {
			policies.Set(name, *m)
		}
	}
	if len(policies.Members) > 0 {
		_, err = a.client.ChangeDefined(ctx, d.kind, made.ID, body(policies), managed)
	}
	return err
}

// change changes an object. Members that the document does not have any more are reset.
func (a *applier) change(ctx context.Context, s *planStep) error {
	d, id := s.doc, s.stored.ID
	if d.id != "" && d.id != id {
		return fmt.Errorf("%s is not %s", d.id, id)
	}
	if d.kind == feedmill.DefinedSQLView && len(s.members) > 0 {
		return a.writeSQLView(ctx, s)
	}
	patch := strictjson.Value{Kind: '{'}
	again := false
	for _, name := range s.changed() {
		if d.kind == feedmill.DefinedFeed && textOf(d.definition.Member("type")) == string(feedmill.FeedUpload) && !slices.Contains(feedPolicies, name) {
			again = true
			continue
		}
		patch.Set(name, s.patched(name))
	}
	if s.label {
		patch.Set("name", strictjson.String(d.label))
	}
	managed := client.Managed(s.handle)
	if len(patch.Members) > 0 {
		if _, err := a.client.ChangeDefined(ctx, d.kind, id, body(patch), managed); err != nil {
			return err
		}
	}
	if again || s.secrets && d.upload != "" {
		return a.uploadAgain(ctx, s, managed)
	}
	if len(patch.Members) == 0 {
		return a.client.SetDefinition(ctx, id, s.handle)
	}
	return nil
}

func (a *applier) uploadAgain(ctx context.Context, s *planStep, managed client.CallOption) error {
	if s.doc.upload == "" {
		return fmt.Errorf("%s can only change together with the data; set file to the data of the upload", strings.Join(s.members, ", "))
	}
	upload, file, err := s.doc.openUpload()
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = a.client.ReplaceData(ctx, s.stored.ID, upload, managed)
	return err
}

// changed are the members to send: those that differ and, if secrets differ, those with secrets.
func (s *planStep) changed() []string {
	names := slices.Clone(s.members)
	if !s.secrets {
		return names
	}
	for pointer := range s.doc.secrets {
		name := strictjson.UnescapePointer(strings.SplitN(pointer, "/", 3)[1])
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	hides := func(at string) bool { return s.doc.definition.At(at) != nil }
	if s.doc.kind == feedmill.DefinedSubscription && slices.ContainsFunc(hiddenSettings, hides) && !slices.Contains(names, "delivery") {
		names = append(names, "delivery")
	}
	slices.Sort(names)
	return names
}

var null = strictjson.Value{Kind: 'n', Raw: []byte("null")}

// patched is the value of a member in a PATCH: null for one that is reset. The settings of a
// connection and the delivery settings of a subscription are changed one by one.
func (s *planStep) patched(name string) strictjson.Value {
	wanted, stored := s.doc.definition.Member(name), s.definition.Member(name)
	merges := s.doc.kind == feedmill.DefinedConnection && name == "config" || s.doc.kind == feedmill.DefinedSubscription && name == "delivery"
	if wanted == nil && !merges {
		switch {
		case s.doc.kind == feedmill.DefinedSubscription && name == "state":
			return strictjson.String(string(feedmill.SubscriptionActive))
		case name == "schemaPolicy":
			return strictjson.String(string(feedmill.SchemaWiden))
		case name == "description":
			return strictjson.String("")
		}
		return null
	}
	v := strictjson.Value{Kind: '{'}
	if wanted != nil {
		v = s.doc.revealed(*wanted, "/"+strictjson.EscapePointer(name))
	}
	if merges {
		nullRemoved(&v, stored)
	}
	return v
}

// nullRemoved adds null to v for the members that only the server has.
func nullRemoved(v, stored *strictjson.Value) {
	if stored == nil {
		return
	}
	for _, m := range stored.Members {
		have := v.Member(m.Name)
		switch {
		case have == nil && m.Name == "headers":
			removed := strictjson.Value{Kind: '{'}
			nullRemoved(&removed, &m.Value)
			v.Set(m.Name, removed)
		case have == nil:
			v.Set(m.Name, null)
		case m.Name == "headers":
			nullRemoved(have, &m.Value)
		}
	}
}
