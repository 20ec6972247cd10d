package spec

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Merge changes a definition of which [Definition.Public] (or
// [Definition.SourceSpec]) and [Definition.Secrets] were kept. A member that
// the patch names takes the place of the whole old one, and null takes an
// optional one away. Where the patch says *** for a secret, the old one stays.
// The name is empty where the patch has none. The rules stay unless the patch sets
// others.
//
// A secret that the user does not write again goes nowhere new: a definition
// that names another origin than before needs its secrets anew.
func Merge(publicSpec, secrets, patch []byte, rules feedmill.Rules, maxBytes int64) (*Definition, error) {
	change, err := ParseDocument(patch)
	if err != nil {
		return nil, err
	}
	r := newReading(rules)
	if r.document(&change) == nil {
		return nil, r.refusal()
	}
	old, err := restore(publicSpec, secrets)
	if err != nil {
		return nil, err
	}
	kept, err := ReadSecrets(secrets)
	if err != nil {
		return nil, err
	}
	before, _ := readDefinition(old.Clone(), rules, maxBytesEver, true)
	_, known := readDefinition(old.Clone(), rules, maxBytes, false)
	for _, m := range change.Members {
		if m.Value.Kind == 'n' {
			old.Remove(m.Name)
		} else {
			old.Set(m.Name, m.Value)
		}
	}
	reused := reuse(&old, &change, kept)
	_, found := readDefinition(old.Clone(), rules, maxBytes, false)
	found.tolerate(known.faults.List, &change)
	d, parsed := readDefinition(old, rules, maxBytes, true)
	if err := parsed.refusal(); err != nil && found.refusal() == nil {
		return nil, err
	}
	d.checkParentIdentity(found)
	d.checkDeletes(found)
	for _, pointer := range found.secrets {
		if v := d.doc.At(pointer); v != nil && v.Kind == '"' && v.Text() == hidden {
			found.faults.Note(pointer, "*** keeps a stored secret, and none is stored here. Write the secret itself.")
		}
	}
	if d.Spec.known() && !subset(d.URLs(), before.URLs()) {
		for _, pointer := range reused {
			found.faults.Note(pointer, "The stored secret is for another origin. Write the secret again, or restore the old URL.")
		}
	}
	return d, found.refusal()
}

// tolerate drops the faults that the definition had before the change, unless the change
// is about them: an earlier release may have checked less.
func (r *reading) tolerate(known []feedmill.Fault, change *strictjson.Value) {
	for _, name := range []string{"request", "each", "incremental", "rules"} {
		if change.Member(name) != nil {
			return // the members depend on each other
		}
	}
	r.faults.List = slices.DeleteFunc(r.faults.List, func(f feedmill.Fault) bool {
		member, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
		return change.Member(strictjson.UnescapePointer(member)) == nil && slices.Contains(known, f)
	})
}

// reuse puts the old secrets where the patch has *** for them, and returns the
// pointers of all that stay.
func reuse(doc, change *strictjson.Value, kept strictjson.Value) []string {
	var reused []string
	for _, m := range kept.Members {
		v := doc.At(m.Name)
		if v == nil {
			continue
		}
		if given := change.At(m.Name); given != nil {
			if given.Kind != '"' || given.Text() != hidden {
				continue
			}
			*v = m.Value.Clone()
		}
		reused = append(reused, m.Name)
	}
	return reused
}

// known reports whether the places that a spec names could be read.
func (s *Spec) known() bool {
	return s.Request.Origin != nil && !slices.ContainsFunc(s.Auth.places(), func(u NamedURL) bool { return u.URL == nil })
}

// subset reports whether every URL has the origin that it had before, and one
// that is new that of another.
func subset(urls, of []NamedURL) bool {
	for _, u := range urls {
		among := of
		if i := slices.IndexFunc(of, func(o NamedURL) bool { return o.Pointer == u.Pointer }); i >= 0 {
			among = of[i : i+1]
		}
		if !slices.ContainsFunc(among, func(o NamedURL) bool { return SameOrigin(u.URL, o.URL) }) {
			return false
		}
	}
	return true
}
