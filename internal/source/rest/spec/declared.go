package spec

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// A secret is known by its name, or declared: any value of a request may be
// written {"secret": "…"}. It is kept in that form, so that it stays declared,
// and read as what is inside of it.

// requestPlaces are where definitions have requests, and requestValues what may be
// declared in them.
var (
	requestPlaces = []string{"/request", "/auth/request", "/each/in/request", "/job/poll"}
	requestValues = []string{"url", "query", "headers", "body"}
)

// maxDeclared is how many secrets may be declared, and maxPlace how long the names may be
// that one, or a value in a body of JSON, stands below.
const (
	maxDeclared = 200
	maxPlace    = 2 << 10
)

// unwrap puts declared secrets in the places of their declarations, and notes
// them.
func (r *reading) unwrap(doc *strictjson.Value) {
	for _, place := range requestPlaces {
		for _, name := range requestValues {
			at := place + "/" + name
			v := doc.At(at)
			if v == nil {
				continue
			}
			if name == "body" {
				r.unwrapBody(at, v)
				continue
			}
			r.unwrapValue([]string{at}, v)
		}
	}
	r.unwrapParameters(doc)
}

// unwrapParameters is unwrap for the parameters of a token request.
func (r *reading) unwrapParameters(doc *strictjson.Value) {
	const at = "/auth/parameters"
	if v := doc.At(at); v != nil {
		r.unwrapValue([]string{at}, v)
	}
}

// unwrapBody is unwrap for a body. One of JSON that is such an object itself is
// what is sent: hardly anybody sends a bare text.
func (r *reading) unwrapBody(at string, body *strictjson.Value) {
	kind := body.Member("kind")
	value := body.Member("value")
	if value != nil && kind != nil && kind.Kind == '"' && kind.Text() == bodyJSON && declaredSecret(value) != nil {
		return
	}
	r.unwrapValue([]string{at}, body)
}

// unwrapValue is unwrap for a value below some names. Where it stands is written out for
// secrets only: a long name may have many values.
func (r *reading) unwrapValue(at []string, v *strictjson.Value) {
	if secret := declaredSecret(v); secret != nil {
		*v = *secret
		r.declare(at, secret)
		return
	}
	for i := range v.Members {
		r.unwrapValue(append(at, v.Members[i].Name), &v.Members[i].Value)
	}
	for i := range v.Items {
		r.unwrapValue(append(at, strconv.Itoa(i)), &v.Items[i])
	}
}

// declare notes a secret, the names of which begin with the pointer of a place.
func (r *reading) declare(at []string, secret *strictjson.Value) {
	bytes := 0
	for _, name := range at {
		bytes += len(name)
	}
	if len(r.declared) >= maxDeclared || bytes > maxPlace {
		fault := feedmill.Fault{Pointer: at[0], Detail: fmt.Sprintf("secrets can declare at most %d values, with paths of at most %d bytes in total.", maxDeclared, maxPlace)}
		if !slices.Contains(r.faults.List, fault) {
			r.faults.Add(fault)
		}
		return
	}
	pointer := at[0]
	for _, name := range at[1:] {
		pointer += "/" + strictjson.EscapePointer(name)
	}
	if r.declared == nil {
		r.declared = make(map[string]string)
	}
	r.declared[pointer], _ = find.Scalar(secret)
}

// declaredSecret is what a value declares to be a secret, nil where it does not.
func declaredSecret(v *strictjson.Value) *strictjson.Value {
	if v.Kind != '{' || len(v.Members) != 1 || v.Members[0].Name != "secret" {
		return nil
	}
	inner := v.Members[0].Value
	if _, ok := find.Scalar(&inner); !ok {
		return nil
	}
	return &inner
}

// isDeclared reports whether a member, or an element of it, is a declared secret.
func (o *object) isDeclared(name string) bool {
	at := o.pointer(name)
	for pointer := range o.r.declared {
		if pointer == at || strings.HasPrefix(pointer, at+"/") {
			return true
		}
	}
	return false
}

// allSecrets are the pointers of what must not be shown: the secrets known by
// name and those declared that do not stand in one of them.
func (r *reading) allSecrets() []string {
	all := slices.Clone(r.secrets)
	for pointer := range r.declared {
		if !slices.ContainsFunc(r.secrets, func(s string) bool { return s == pointer || strings.HasPrefix(pointer, s+"/") }) {
			all = append(all, pointer)
		}
	}
	slices.Sort(all[len(r.secrets):])
	return all
}

// addDeclared knows the declared secrets of a spec. Of a URL all that stands
// behind the host is one.
func (m *Mask) addDeclared(declared map[string]string) {
	for pointer, text := range declared {
		m.Add(text)
		if _, name, ok := strings.Cut(pointer, "/query/"); ok {
			name, _, _ = strings.Cut(name, "/")
			m.named = append(m.named, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
		if !strings.HasSuffix(pointer, "/url") {
			continue
		}
		t, err := parseTemplate(text)
		if err != nil {
			continue
		}
		for _, part := range t.parts {
			m.addURL(part.literal)
		}
	}
}

// addURL knows the parts of a URL, or of a piece of one.
func (m *Mask) addURL(text string) {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		_, text, _ = strings.Cut(rest, "/")
	}
	path, query, _ := strings.Cut(text, "?")
	m.Add(strings.Trim(path, "/"), query)
	for segment := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(segment); err == nil {
			m.Add(plain)
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		_, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(value); err == nil {
			m.Add(plain)
		}
	}
}
