package rest

import (
	"slices"

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
	change, err := parseDocument(patch)
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
	kept, err := readSecrets(secrets)
	if err != nil {
		return nil, err
	}
	before, wrong := readDefinition(old.Clone(), rules, maxBytesEver, true)
	if err := wrong.refusal(); err != nil {
		return nil, err
	}
	for _, m := range change.Members {
		if m.Value.Kind == 'n' {
			old.Remove(m.Name)
		} else {
			old.Set(m.Name, m.Value)
		}
	}
	reused := reuse(&old, &change, kept)
	// Who changes something else is not asked to mend what was good when it was written.
	same := change.Member("request") == nil && change.Member("each") == nil && change.Member("incremental") == nil && change.Member("rules") == nil
	d, found := readDefinition(old, rules, maxBytes, same)
	d.checkApart(found)
	for _, pointer := range found.secrets {
		if v := d.doc.At(pointer); v != nil && v.Kind == '"' && v.Text() == hidden {
			found.faults.Note(pointer, "There is no such secret that could stay; write its value.")
		}
	}
	if d.Spec.known() && !subset(d.URLs(), before.URLs()) {
		for _, pointer := range reused {
			found.faults.Note(pointer, "This secret was given for another origin; write it again, or the old URL.")
		}
	}
	return d, found.refusal()
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
	return s.request.origin != nil &&
		(s.auth.kind != authOAuth && s.auth.kind != authRenew && s.auth.kind != authJWT || s.auth.tokenURL != nil) &&
		(s.auth.kind != authLogin || s.auth.login.origin != nil)
}

// subset reports whether every URL has the origin that it had before, and one
// that is new that of another.
func subset(urls, of []NamedURL) bool {
	for _, u := range urls {
		among := of
		if i := slices.IndexFunc(of, func(o NamedURL) bool { return o.Pointer == u.Pointer }); i >= 0 {
			among = of[i : i+1]
		}
		if !slices.ContainsFunc(among, func(o NamedURL) bool { return sameOrigin(u.URL, o.URL) }) {
			return false
		}
	}
	return true
}
