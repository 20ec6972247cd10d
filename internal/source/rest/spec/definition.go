package spec

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Definition is a feed that fetches its data, as a user wrote it.
type Definition struct {
	Name        string
	Description string
	Mode        feedmill.FeedMode
	// Key names the columns that rows are merged by.
	Key      []string
	Schedule feedmill.Schedule
	Response Response
	// Rules is the version of the rules that the definition is read by.
	Rules feedmill.Rules
	// Spec is how the data is fetched, nil for a feed on the source of another.
	Spec *Spec

	doc     strictjson.Value
	secrets []string // their pointers
}

// Response is how records are read from the pages.
type Response struct {
	// Format is auto or one of csv, tsv, json and ndjson.
	Format string
	// Path says where the records of a JSON document are, and Explode where in
	// a record the array is whose elements become rows.
	Path, Explode string
	// Sheet is the number of the worksheet, from 1; 0 is the one that the path names,
	// or else the first.
	Sheet int
	// Types is auto, or text to leave every column text.
	Types string
	// MissingEmpty says that a document without what Path leads through has no
	// records, and is not at fault.
	MissingEmpty bool
	// Entry is which files of a zip archive are meant, empty for the only one, and FileColumn the
	// column for their names, empty for none.
	Entry, FileColumn string
	// Options are how the data is written, where that is not found.
	Options feedmill.ReadingOptions
	// Rules is the version of the rules that the records are found by.
	Rules feedmill.Rules
	// Shape is how rows are made of the records, nil where they are rows.
	Shape *Shape
	// Deleted is how the source reports deleted rows, nil where it does not.
	Deleted *Deletion
}

// sourceMembers are the members of a definition that belong to the source and
// so to all of its feeds; the others are of one feed.
var sourceMembers = []string{"request", "auth", "tls", "pagination", "incremental", "each", "job", "retry", "rateLimit", "errors", "schedule", "fullEvery"}

// feedMembers are the members of one feed, besides its name and description.
var feedMembers = []string{"response", "columns", "otherColumns", "deleted", "mode", "key"}

// hidden stands for every secret that is shown.
const hidden = feedmill.Hidden

// Public is the definition as JSON text for the user to see: how the data is
// fetched and read, with *** for every secret. The name and the description
// are not in it, for they are the feed's.
func (d *Definition) Public() []byte {
	return d.part(append(slices.Clone(sourceMembers), feedMembers...))
}

// SourceSpec is the part of [Definition.Public] that is the same for all feeds
// of the source. [Restore] and [Overlay] read it.
func (d *Definition) SourceSpec() []byte { return d.part(sourceMembers) }

func (d *Definition) part(names []string) []byte {
	doc := d.doc.Clone()
	for _, pointer := range d.secrets {
		if v := doc.At(pointer); v != nil {
			*v = strictjson.String(hidden)
		}
	}
	part := strictjson.Value{Kind: '{'}
	for _, name := range names {
		if v := doc.Member(name); v != nil && v.Kind != 'n' {
			part.Set(name, *v)
		}
	}
	return part.Append(nil)
}

// Secrets is the JSON text of what [Definition.SourceSpec] leaves out. The
// caller seals it.
func (d *Definition) Secrets() []byte {
	secrets := strictjson.Value{Kind: '{'}
	for _, pointer := range d.secrets {
		if v := d.doc.At(pointer); v != nil {
			secrets.Set(pointer, *v)
		}
	}
	return secrets.Append(nil)
}

// Host is who is asked for the data, with the port where the URL names one.
func (d *Definition) Host() string {
	if d.Spec == nil {
		return ""
	}
	return d.Spec.Request.Origin.Host
}

// NamedURL is a URL of a definition and the JSON Pointer to it. Only its scheme
// and host are there.
type NamedURL struct {
	Pointer string
	URL     *url.URL
}

// URLs are the places that the definition names, for the egress policy to be
// asked about.
func (d *Definition) URLs() []NamedURL {
	if d == nil || d.Spec == nil {
		return nil
	}
	urls := append([]NamedURL{{"/request/url", d.Spec.Request.Origin}}, d.Spec.Auth.places()...)
	if e := d.Spec.Each; e != nil && e.List != nil {
		urls = append(urls, NamedURL{"/each/in/request/url", e.List.Spec.Request.Origin})
	}
	if j := d.Spec.Report; j != nil {
		urls = append(urls, NamedURL{"/job/poll/url", j.Poll.Origin})
	}
	return slices.DeleteFunc(urls, func(u NamedURL) bool { return u.URL == nil })
}

// Restore puts together what [Definition.SourceSpec] and [Definition.Secrets]
// gave under a version of the rules.
func Restore(sourceSpec, secrets []byte, rules feedmill.Rules) (*Spec, error) {
	doc, err := restore(sourceSpec, secrets)
	if err != nil {
		return nil, fmt.Errorf("restore a source: %w", err)
	}
	r := newReading(rules)
	r.stored = true
	r.unwrap(&doc)
	spec := readSpec(&object{strictjson.NewObject(&doc, "", r.faults.Note), r}, maxBytesEver)
	if err := r.refusal(); err != nil {
		return nil, fmt.Errorf("restore a source: %w", err)
	}
	return spec, nil
}

func restore(spec, secrets []byte) (strictjson.Value, error) {
	doc, err := ParseDocument(spec)
	if err != nil {
		return strictjson.Value{}, err
	}
	kept, err := ReadSecrets(secrets)
	if err != nil {
		return strictjson.Value{}, err
	}
	for _, m := range kept.Members {
		v := doc.At(m.Name)
		if v == nil {
			return strictjson.Value{}, errors.New("a secret has no place in the spec")
		}
		*v = m.Value
	}
	return doc, nil
}

// ReadSecrets reads what [Definition.Secrets] gave; nothing at all is no secrets.
func ReadSecrets(secrets []byte) (strictjson.Value, error) {
	if len(secrets) == 0 {
		return strictjson.Value{Kind: '{'}, nil
	}
	kept, err := ParseDocument(secrets)
	if err == nil && (kept.Kind != '{' || slices.ContainsFunc(kept.Members, func(m strictjson.Member) bool { return m.Name == "" || m.Name[0] != '/' })) {
		err = errors.New("the secrets are no object of pointers")
	}
	return kept, err
}

// Overlay is the public text of a feed whose source has another spec now: the
// members of the source are those of sourceSpec, the others stay.
func Overlay(feedSpec, sourceSpec []byte) ([]byte, error) {
	feed, err := ParseDocument(feedSpec)
	if err != nil {
		return nil, fmt.Errorf("read the spec of a feed: %w", err)
	}
	source, err := ParseDocument(sourceSpec)
	if err != nil {
		return nil, fmt.Errorf("read the spec of a source: %w", err)
	}
	for _, name := range feedMembers {
		if v := feed.Member(name); v != nil {
			source.Set(name, *v)
		}
	}
	return source.Append(nil), nil
}

// Split is a definition in the parts that are kept.
func (d *Definition) Split() feedmill.FeedDefinition {
	return feedmill.FeedDefinition{
		Name: d.Name, Description: d.Description, Mode: d.Mode, Key: d.Key, Spec: d.Public(), Rules: d.Rules,
		Source: feedmill.SourceDefinition{Host: d.Host(), Schedule: d.Schedule, Spec: d.SourceSpec(), Secrets: d.Secrets(), Rules: d.Rules},
	}
}

// DefineFeed checks the definition of one more feed of a source. Where the
// source only brings what is new, the feed keeps what it has.
func DefineFeed(body, sourceSpec []byte) (feedmill.FeedDefinition, error) {
	d, err := ParseFeed(body)
	if err != nil {
		return feedmill.FeedDefinition{}, err
	}
	source, err := ParseDocument(sourceSpec)
	if err != nil {
		return feedmill.FeedDefinition{}, err
	}
	if source.Member("incremental") != nil && d.Mode == feedmill.ModeReplace {
		d.Mode = feedmill.ModeAppend
		if len(d.Key) > 0 {
			d.Mode = feedmill.ModeMerge
		}
	}
	checked := newReading(d.Rules)
	if d.checkDeletes(checked); checked.refusal() != nil {
		return feedmill.FeedDefinition{}, checked.refusal()
	}
	if ComparesRows(d.Mode, d.Key) && mixesParents(&source) {
		return feedmill.FeedDefinition{}, feedmill.Invalid("", feedmill.Fault{Pointer: "/key", Detail: NoKeyDetail})
	}
	text, err := Overlay(d.Public(), sourceSpec)
	return feedmill.FeedDefinition{Name: d.Name, Description: d.Description, Mode: d.Mode, Key: d.Key, Spec: text, Rules: d.Rules}, err
}
