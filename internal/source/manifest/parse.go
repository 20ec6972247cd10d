package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Fault is a place where a manifest is wrong.
type Fault struct {
	// Line is where that is in the file, from 1; 0 where the file is no YAML.
	Line    int
	Pointer string
	Detail  string
}

func (f Fault) String() string {
	if f.Pointer == "" {
		return fmt.Sprintf("%d: %s", f.Line, f.Detail)
	}
	return fmt.Sprintf("%d: %s: %s", f.Line, f.Pointer, f.Detail)
}

// Parse reads and checks a manifest. With faults it has what could be read of it, and
// must not be used.
func Parse(data []byte) (*Manifest, []Fault) { return parse(data, spec.Parse) }

// Load is Parse for a file that may be older than this release: the requests of a
// manifest with earlier rules are not checked again.
func Load(data []byte) (*Manifest, []Fault) {
	return parse(data, func(body []byte, maxBytes int64) (*spec.Definition, error) {
		d, err := spec.ParseStored(body)
		if err == nil && d.Rules == feedmill.RulesCurrent {
			return spec.Parse(body, maxBytes)
		}
		return d, err
	})
}

func parse(data []byte, check checkDefinition) (*Manifest, []Fault) {
	m := &Manifest{}
	if len(data) > MaxBytes {
		return m, []Fault{{Line: 1, Detail: fmt.Sprintf("A manifest can have at most %d bytes; this one has %d.", MaxBytes, len(data))}}
	}
	var faults feedmill.Faults
	doc, ok := strictjson.ReadYAML(data, faults.Note)
	switch {
	case ok && doc.Kind == '{':
		m.doc = doc
		r := &reading{m: m, faults: &faults}
		r.manifest(strictjson.NewObject(&doc, "", faults.Note))
		if base := doc.Member("baseUrl"); base != nil && base.Kind == '"' {
			known := len(faults.List)
			r.definitions(check)
			faults.List = withoutEchoes(faults.List, known)
		}
	case ok:
		faults.Note("", "A manifest must be an object with service, baseUrl and views.")
	}
	found := make([]Fault, len(faults.List))
	for i, f := range faults.List {
		found[i] = Fault{lineOf(&doc, f.Pointer), f.Pointer, f.Detail}
		if !ok && f.Pointer == "" {
			found[i].Line = max(1, strictjson.FaultLine(f.Detail))
		}
	}
	slices.SortStableFunc(found, func(a, b Fault) int { return a.Line - b.Line })
	return m, found
}

// withoutEchoes drops faults of definitions, which follow the first so many of the manifest
// itself, that say the same again: about the same place, or about what is in it or around it.
// Views share what is wrong with the members that they have in common.
func withoutEchoes(faults []feedmill.Fault, known int) []feedmill.Fault {
	kept := slices.Clone(faults[:known])
	within := func(inner, outer string) bool { return inner == outer || strings.HasPrefix(inner, outer+"/") }
	for _, f := range faults[known:] {
		echo := slices.ContainsFunc(faults[:known], func(k feedmill.Fault) bool {
			return within(f.Pointer, k.Pointer) || within(k.Pointer, f.Pointer) || within(k.Pointer, "/config")
		})
		if !echo && !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// lineOf is the line of a place, or of the nearest around it that is there.
func lineOf(doc *strictjson.Value, pointer string) int {
	for {
		if v := doc.At(pointer); v != nil && v.Line > 0 {
			return int(v.Line)
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return max(1, int(doc.Line))
		}
		pointer = pointer[:cut]
	}
}

// reading is a manifest that is being read.
type reading struct {
	m      *Manifest
	faults *feedmill.Faults
}

var (
	serviceName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,49}$`)
	viewName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)
	settingName = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,49}$`)
)

// passedOn are the members that REST feeds have, too, and mean the same there.
var passedOn = []string{"request", "auth", "response", "pagination", "each", "job", "retry", "rateLimit", "errors"}

func (r *reading) manifest(o *strictjson.Object) {
	m := r.m
	if f, ok := o.Need("service"); ok {
		if m.Service, ok = f.Text(); ok && !serviceName.MatchString(m.Service) {
			f.Fault("service must consist of lowercase letters, digits, - and _, start with a letter, and have at most 50 characters.")
		}
		if _, taken := feedmill.FindConnector(m.Service); taken || m.Service == feedmill.ServiceFeeds {
			f.Fault("service is the name of a built-in connector; choose another name.")
		}
	}
	m.Title, m.Description = r.words(o)
	if m.Title == "" {
		m.Title = m.Service
	}
	m.Rules = feedmill.ReadRules(o).Or(feedmill.RulesFirst)
	m.Docs = r.text(o, "docs")
	if f, ok := o.Need("baseUrl"); ok {
		f.Text()
	}
	r.settings(o)
	if f, ok := o.Given("auth"); ok {
		r.signIn(f)
	}
	for _, name := range passedOn {
		o.Know(name)
	}
	r.views(o)
	o.RefuseUnknown()
}

// words reads the title and the description of something.
func (r *reading) words(o *strictjson.Object) (title, description string) {
	if f, ok := o.Given("title"); ok {
		title, _ = f.Label(maxName)
	}
	return title, r.text(o, "description")
}

func (r *reading) text(o *strictjson.Object, name string) (text string) {
	if f, ok := o.Given(name); ok {
		if text, _ = f.Text(); len(text) > maxText {
			f.Fault(fmt.Sprintf("Must have at most %d bytes.", maxText))
		}
	}
	return text
}

// members reads an object whose names are the manifest's own.
func members(o *strictjson.Object, name string, most int, valid *regexp.Regexp, rule string, each func(name string, o *strictjson.Object)) {
	f, ok := o.Given(name)
	if !ok {
		return
	}
	all, ok := f.Object()
	if !ok {
		return
	}
	if len(f.Members) > most {
		f.Fault(fmt.Sprintf("Must have at most %d members.", most))
		return
	}
	for name, f := range all.All() {
		if valid != nil && !valid.MatchString(name) {
			f.Fault("The name " + rule)
		}
		if f.Kind == 'n' {
			f.Value = &strictjson.Value{Kind: '{', Line: f.Line}
		}
		if inner, ok := f.Object(); ok {
			each(name, inner)
			inner.RefuseUnknown()
		}
	}
}

func (r *reading) settings(o *strictjson.Object) {
	members(o, "config", maxSettings, settingName, "must consist of letters and digits and start with a lowercase letter.", func(name string, o *strictjson.Object) {
		s := Setting{Name: name, Required: true}
		s.Title, s.Description = r.words(o)
		if f, ok := o.Given("secret"); ok {
			s.Secret, _ = f.Boolean()
		}
		if f, ok := o.Given("default"); ok {
			s.Default, _ = f.Text()
			s.Required = false
			if s.Secret {
				f.Fault("A secret must not have a default.")
			}
		}
		if f, ok := o.Given("required"); ok {
			s.Required, _ = f.Boolean()
		}
		r.m.Settings = append(r.m.Settings, s)
	})
}

// codeKind is the kind of auth that a person signs in with.
const codeKind = "oauth2AuthorizationCode"

// signIn reads auth where a person is needed; the rest of it is REST feeds'.
func (r *reading) signIn(f strictjson.Field) {
	kind := f.Member("kind")
	if f.Kind != '{' || kind == nil || kind.Kind != '"' || kind.Text() != codeKind {
		return
	}
	o, _ := f.Object()
	o.Know("kind")
	s := &feedmill.Provider{RevokeURL: r.text(o, "revokeUrl"), Issuer: r.text(o, "issuer")}
	for name, into := range map[string]*string{"authorizeUrl": &s.AuthorizeURL, "tokenUrl": &s.TokenURL} {
		if f, ok := o.Need(name); ok {
			if *into, ok = f.Text(); ok && !strings.HasPrefix(*into, "https://") && !strings.HasPrefix(*into, "http://") && !strings.HasPrefix(*into, "{{config.") {
				f.Fault("Must be an absolute URL.")
			}
		}
	}
	if o.Has("scopes") {
		for _, scope := range o.Texts("scopes", 100) {
			s.Scopes = append(s.Scopes, scope)
		}
	}
	if f, ok := o.Given("parameters"); ok {
		s.Parameters = map[string]string{}
		if all, ok := f.Object(); ok {
			for name, f := range all.All() {
				s.Parameters[name], _ = f.Text()
			}
		}
	}
	o.RefuseUnknown()
	r.m.SignIn = s
}

func (r *reading) views(o *strictjson.Object) {
	if f, ok := o.Need("views"); ok && f.Kind == '{' && len(f.Members) == 0 {
		f.Fault("views must contain at least one view.")
	}
	members(o, "views", maxViews, viewName, "must consist of letters, digits, - and _.", func(name string, o *strictjson.Object) {
		v := View{Name: name}
		v.Title, v.Description = r.words(o)
		for _, name := range passedOn {
			o.Know(name)
		}
		r.fields(o, &v)
		known := func(f strictjson.Field, name string) {
			if !slices.ContainsFunc(v.Fields, func(f Field) bool { return f.Name == name }) {
				f.Fault("The view has no field of this name.")
			}
		}
		if o.Has("key") {
			for f, name := range o.Texts("key", 20) {
				known(f, name)
				v.Key = append(v.Key, name)
			}
		}
		if f, ok := o.Given("incremental"); ok {
			if inner, ok := f.Object(); ok {
				if f, ok := inner.Need("field"); ok {
					v.Cursor, _ = f.Text()
					known(f, v.Cursor)
				}
				inner.RefuseUnknown()
			}
		}
		r.m.Views = append(r.m.Views, v)
	})
}

func (r *reading) fields(o *strictjson.Object, v *View) {
	if f, ok := o.Need("fields"); ok && f.Kind == '{' && len(f.Members) == 0 {
		f.Fault("fields must contain at least one field.")
	}
	members(o, "fields", maxFields, nil, "", func(name string, o *strictjson.Object) {
		f := Field{Name: name, Type: columnar.TypeText, Format: r.text(o, "format")}
		if name == "" || len(name) > maxName {
			r.faults.Note(o.Pointer, fmt.Sprintf("The name of a field must have 1 to %d bytes.", maxName))
		}
		f.Title, f.Description = r.words(o)
		if given, ok := o.Given("type"); ok {
			words := make([]string, len(columnar.Types))
			for i, t := range columnar.Types {
				words[i] = string(t)
			}
			word, _ := given.Choice(words...)
			f.Type = columnar.Type(word)
		}
		f.Path = ownPath(name)
		if given, ok := o.Given("path"); ok {
			f.Path, _ = given.Text()
			if _, err := jsonpath.Parse(f.Path); err != nil {
				given.Fault("path is not a valid JSONPath: " + err.Error() + ".")
			}
		}
		if given, ok := o.Given("added"); ok {
			if added, _ := given.Boolean(); added {
				f.Path = ""
			}
		}
		f.Written = r.text(o, "written")
		r.passes(o, &f)
		v.Fields = append(v.Fields, f)
	})
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ownPath is the member of the record of that name.
func ownPath(name string) string {
	if plainName.MatchString(name) {
		return "$." + name
	}
	quoted := strictjson.String(name)
	return "$[" + string(quoted.Raw) + "]"
}
