package spec

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/decode/xml"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Limits of definitions.
const (
	maxSheet = 1 << 16
	// DefaultMaxBytes is how many bytes of pages a fetch may bring where the
	// definition does not say.
	DefaultMaxBytes = 1 << 30
	maxBytesEver    = 1 << 50
)

// Parse reads the definition of a feed and its source. The error is a
// [feedmill.Error] of the kind [feedmill.ErrInvalid] that lists every place
// that is wrong; the definition then has what could be read of it, or is nil. maxBytes is the most that pagination.maxBytes may be,
// [DefaultMaxBytes] where it is 0.
//
// Only the shape is checked: whether the egress policy lets through what
// [Definition.URLs] lists is for the caller to ask.
func Parse(body []byte, maxBytes int64) (*Definition, error) {
	doc, err := ParseDocument(body)
	if err != nil {
		return nil, err
	}
	d, r := readDefinition(doc, feedmill.RulesCurrent, maxBytes, false)
	d.checkParentIdentity(r)
	d.checkDeletes(r)
	for _, pointer := range d.secrets {
		if v := d.doc.At(pointer); v != nil && masks(v) {
			r.faults.Note(pointer, "*** stands for a secret that is not shown. Write the secret itself.")
		}
	}
	if err := r.refusal(); err != nil {
		return d, err
	}
	if d.Name == "" {
		d.Name = d.Spec.Request.Origin.Hostname()
	}
	return d, nil
}

// ParseStored reads a definition that was checked before, such as the one that a manifest
// leads to. Only what cannot be read is an error.
func ParseStored(body []byte) (*Definition, error) {
	doc, err := ParseDocument(body)
	if err != nil {
		return nil, err
	}
	d, r := readDefinition(doc, feedmill.RulesFirst, maxBytesEver, true)
	return d, r.refusal()
}

// ParseFeed reads the definition of a feed on the source of another, which has
// only a name, a description, response, mode and key of its own.
func ParseFeed(body []byte) (*Definition, error) {
	doc, err := ParseDocument(body)
	if err != nil {
		return nil, err
	}
	r := newReading(feedmill.RulesCurrent)
	d := &Definition{doc: doc}
	if o := r.document(&d.doc); o != nil {
		r.rules = feedmill.ReadRules(o.Object).Or(r.rules)
		for _, name := range sourceMembers {
			if o.Has(name) {
				o.Fault(name, "The feed uses the source of another feed. Remove this field.")
			}
		}
		d.readFeed(o, false)
		o.RefuseUnknown()
	}
	d.Rules = r.rules
	return d, r.refusal()
}

// readDefinition reads everything, by the rules given unless the document sets others.
// What is wrong is in the reading; a stored definition is not checked again.
func readDefinition(doc strictjson.Value, rules feedmill.Rules, maxBytes int64, stored bool) (*Definition, *reading) {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	r := newReading(rules)
	r.stored = stored
	d := &Definition{doc: doc}
	o := r.document(&d.doc)
	if o == nil {
		return d, r
	}
	// What is kept has the declarations of secrets, what is read has not.
	defer func() { d.secrets = r.allSecrets() }()
	moveSecrets(o.Value.Member("request"))
	for _, holder := range []*strictjson.Value{o.Value.Member("job"), inOf(o.Value.Member("each"))} {
		if holder != nil {
			moveSecrets(holder.Member("poll"))
			moveSecrets(holder.Member("request"))
		}
	}
	if a := o.Value.Member("auth"); a != nil {
		moveSecrets(a.Member("request"))
	}
	plain := d.doc.Clone()
	r.unwrap(&plain)
	o = r.document(&plain)
	r.rules = feedmill.ReadRules(o.Object).Or(rules)
	d.Rules = r.rules
	d.Spec = readSpec(o, maxBytes)
	d.Schedule = feedmill.ReadSchedule(o.Object)
	d.readFeed(o, d.Spec.Incremental != nil)
	o.RefuseUnknown()
	return d, r
}

// inOf is where each gets its rows from.
func inOf(each *strictjson.Value) *strictjson.Value {
	if each == nil {
		return nil
	}
	return each.Member("in")
}

// readFeed reads the members of a feed.
func (d *Definition) readFeed(o *object, incremental bool) {
	if f, ok := o.Given("name"); ok {
		d.Name = f.Name(feedmill.MaxNameLen)
	}
	d.Description = feedmill.ReadDescription(o.Object)
	d.Response = readResponse(o)
	d.Mode, d.Key = feedmill.ReadMode(o.Object, incremental)
}

// readResponse reads how the records of a feed are read.
func readResponse(o *object) Response {
	r := Response{Format: "auto", Types: "auto", Rules: o.r.rules}
	r.Deleted = o.readDeleted()
	response := o.object("response")
	if shape := o.readShape(response); shape.any() {
		r.Shape = &shape
	}
	if response == nil {
		return r
	}
	for _, name := range feedmill.ReadingOptionNames {
		if text, ok := response.option(name); ok {
			*r.Options.Option(name) = text
		}
	}
	if r.Shape != nil && o.r.rules > feedmill.RulesFirst {
		r.Shape.setNulls(r.Options.Nulls)
	}
	if r.Shape != nil && r.Options.Context == "true" {
		response.Fault("context", ContextAlone)
	}
	for _, fault := range decode.CheckReading(r.Options) {
		response.Fault(fault.Parameter, fault.Detail)
	}
	r.Format = readPageFormat(response)
	r.Path = response.recordPath("path", r.Format)
	format := r.Format
	if strings.HasPrefix(r.Path, "/") && format == "auto" {
		format = "xml"
	}
	r.readExplode(response, format)
	r.readSheet(response)
	r.Types = response.choice("types", "auto", "auto", "text")
	r.Entry, _ = response.text("entry")
	if r.FileColumn, _ = response.text("fileColumn"); response.Has("fileColumn") && r.FileColumn == "" {
		response.Fault("fileColumn", "fileColumn must be the name of a column.")
	}
	r.MissingEmpty = response.choice("missing", "fail", "fail", "empty") == "empty"
	response.RefuseUnknown()
	if format != "auto" && format != "json" && format != "ndjson" {
		for _, fault := range r.tabularFaults() {
			o.r.fault(fault.Pointer, fault.Detail)
		}
	}
	return r
}

// readSheet reads which sheet of a spreadsheet has the records.
func (r *Response) readSheet(response *object) {
	if !response.Has("sheet") {
		return
	}
	if !takes(r.Format, "sheet") {
		response.Fault("sheet", "Data in "+r.Format+" has no sheets. Remove this field.")
	}
	r.Sheet = int(response.integer("sheet", 1, 1, maxSheet))
}

// readPageFormat reads the format of pages, auto where none is set that can be read.
func readPageFormat(response *object) string {
	s, ok := response.text("format")
	if !ok {
		return "auto"
	}
	names := strings.Join(PageFormats.Readable().Names(), ", ")
	switch format, known := PageFormats.Named(s); {
	case s == "auto" || format.Readable:
		return s
	case known:
		response.unreadable("format", "The format "+s+" cannot be read; use auto, "+names+".")
	default:
		response.unreadable("format", "Must be auto, "+names+".")
	}
	return "auto"
}

// readExplode reads which lists of records become rows: a path, or pairs of a key and a value.
func (r *Response) readExplode(response *object, format string) {
	f, ok := response.Given("explode")
	if !ok || f.Kind != '{' {
		r.Explode = response.recordPath("explode", format)
		return
	}
	if r.Shape == nil {
		r.Shape = &Shape{Keep: true}
	}
	if r.Explode, r.Shape.Pairs = readPairs(f, response); r.Shape.Pairs == nil {
		r.Shape = nil
	}
}

// option reads an option of the reading: a text, or a number such as the line of the
// header.
func (o *object) option(name string) (string, bool) {
	f, ok := o.Given(name)
	if !ok {
		return "", false
	}
	text, ok := find.Scalar(f.Value)
	if !ok {
		f.Fault("Must be a string.")
	}
	return text, ok
}

// takes reports whether a format has a use for a parameter. It is not known where
// the format is found out.
func takes(format, parameter string) bool {
	f, known := PageFormats.Named(format)
	return !known || slices.Contains(f.Parameters, parameter)
}

// recordPath reads a path into records, which tables have none of. In a spreadsheet it
// is a range, a defined name or a table, which only the workbook can tell.
func (o *object) recordPath(name, format string) string {
	s, ok := o.text(name)
	switch {
	case !ok:
	case s == "":
		o.Fault(name, "Must not be empty. Set a value, or remove the field.")
	case !takes(format, name):
		o.Fault(name, "Data in "+format+" has no paths. Remove this field.")
	case decode.HasSheets(format), format == "xml" && name == "path" && !strings.Contains(s, "/"): // XML may be a workbook, too
	case format == "xml" || name == "path" && s[0] == '/' && format == "auto":
		check := xml.CheckPath
		if name == "explode" {
			check = xml.CheckExplode
		}
		if err := check(s); err != nil {
			o.unreadable(name, "Not a valid XML path: "+err.Error()+".")
		}
	default:
		full := s
		if name == "explode" && s[0] != '$' {
			full = "$." + s
		}
		if _, err := jsonpath.Parse(full); err != nil {
			o.unreadable(name, "Not a valid JSONPath: "+err.Error()+". If the data is a spreadsheet, set response.format.")
		}
	}
	return s
}

// PageFormats are the formats that an answer can have.
var PageFormats = decode.PageFormats()
