package rest

import (
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// auth is the credential of a source. Each kind is a type of its own; the ones without a token
// endpoint embed [noAuth]. The package that fetches has a signer for each kind.
type auth interface {
	// places are where secrets are sent besides the requests of the source. A URL is nil
	// where it could not be read.
	places() []NamedURL
	// tell adds what tells credentials of the kind apart.
	tell(add func(parts ...string))
	// hide has a mask know the secrets.
	hide(m *mask)
}

// authKinds are the kinds of authentication and what reads each.
var authKinds = []struct {
	name string
	read func(*object) auth
}{
	{authNone, func(*object) auth { return noAuth{} }},
	{"basic", readBasic},
	{"bearer", func(o *object) auth { return &bearer{token: o.headerSecret("token")} }},
	{"apiKey", readAPIKey},
	{"oauth2ClientCredentials", readClientCredentials},
	{"oauth2RefreshToken", readRenewal},
	{"jwtBearer", readServiceAccount},
	{"awsSigV4", readAWSKey},
	{"login", readLogin},
	{"digest", readDigest},
	{"oauth1", readOAuth1},
	{authHMAC, readHMAC},
}

// The kinds that others than [readAuth] know by their names.
const (
	authNone = "none"
	authHMAC = "hmac"
)

// readAuth reads how requests are signed.
func readAuth(o *object) auth {
	names := make([]string, len(authKinds))
	for i, k := range authKinds {
		names[i] = k.name
	}
	kind, known := o.kind(names...)
	if !known {
		return noAuth{}
	}
	a := authKinds[slices.Index(names, kind)].read(o)
	o.RefuseUnknown()
	return a
}

// noAuth is for requests without a credential.
type noAuth struct{}

func (noAuth) places() []NamedURL       { return nil }
func (noAuth) tell(add func(...string)) { add(authNone) }
func (noAuth) hide(*mask)               {}

// user has a name and a password, which basic and digest authentication send in their ways.
type user struct{ name, password string }

// readUser reads a user of a kind of authentication.
func (o *object) readUser(kind string) (u user) {
	u.name = o.needText("username")
	if strings.Contains(u.name, ":") {
		o.Fault("username", "username must not contain a colon with "+kind+" authentication.")
	}
	if u.password, _ = o.text("password"); !o.Has("password") {
		o.unreadable("password", strictjson.Required)
	}
	o.secret("password")
	return u
}

// basic is a user of basic authentication.
type basic struct {
	noAuth
	user
}

func readBasic(o *object) auth { return &basic{user: o.readUser("basic")} }

func (a *basic) tell(add func(...string)) { add("basic", a.name, a.password) }
func (a *basic) hide(m *mask)             { m.add(a.password, joined(a.name, a.password)) }

// joined is a name and a password as basic authentication sends them.
func joined(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}

// bearer is a token that does not change.
type bearer struct {
	noAuth
	token string
}

func (a *bearer) tell(add func(...string)) { add("bearer", a.token) }
func (a *bearer) hide(m *mask)             { m.add(a.token) }

// apiKey is a key in a header, a query parameter or a cookie.
type apiKey struct {
	noAuth
	in, name, value string
}

func readAPIKey(o *object) auth {
	a := &apiKey{in: o.choice("in", inHeader, inHeader, inQuery, inCookie), name: o.needText("name")}
	if wrong := wrongHeader(a.name); a.name != "" && a.in == inHeader && wrong != "" {
		o.Fault("name", wrong)
	}
	if a.in == inCookie && !httpguts.ValidHeaderFieldName(a.name) {
		o.Fault("name", "Not a valid cookie name.")
	}
	if a.value = o.headerSecret("value"); a.in == inCookie && strings.ContainsAny(a.value, "; ,\"\\") {
		o.Fault("value", "The value contains characters that are not allowed in a cookie.")
	}
	return a
}

func (a *apiKey) tell(add func(...string)) { add("apiKey", a.in, a.name, a.value) }

func (a *apiKey) hide(m *mask) {
	m.named = append(m.named, a.name)
	m.add(a.value)
}

// headerSecret reads a secret that can stand in a header.
func (o *object) headerSecret(name string) string {
	s := o.needText(name)
	if !httpguts.ValidHeaderFieldValue(s) {
		o.Fault(name, "The value contains characters that are not allowed in a header, such as line breaks.")
	}
	o.secret(name)
	return s
}
