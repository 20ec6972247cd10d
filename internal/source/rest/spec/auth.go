package spec

import (
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// Auth is the credential of a source. Each kind is a type of its own; XX// endpoint embed [noAuth]. The package that fetches has a signer for each kind.
type Auth interface {
	// places are where secrets are sent besides the requests of the source. A URL is nil
	// where it could not be read.
	places() []NamedURL
	// fingerprint adds what distinguishes credentials of the kind.
	fingerprint(add func(parts ...string))
	// hide has a mask know the secrets.
	hide(m *Mask)
}

// authKinds are the kinds of authentication and what reads each.
var authKinds = []struct {
	name string
	read func(*object) Auth
}{
	{authNone, func(*object) Auth { return noAuth{} }},
	{"basic", readBasic},
	{"bearer", func(o *object) Auth { return &Bearer{Token: o.headerSecret("token")} }},
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
func readAuth(o *object) Auth {
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

func (noAuth) places() []NamedURL              { return nil }
func (noAuth) fingerprint(add func(...string)) { add(authNone) }
func (noAuth) hide(*Mask)                      {}

// User has a name and a password, which basic and digest authentication send in their ways.
type User struct{ Name, Password string }

// readUser reads a user of a kind of authentication.
func (o *object) readUser(kind string) (u User) {
	u.Name = o.needText("username")
	if strings.Contains(u.Name, ":") {
		o.Fault("username", "username must not contain a colon with "+kind+" authentication.")
	}
	if u.Password, _ = o.text("password"); !o.Has("password") {
		o.unreadable("password", strictjson.Required)
	}
	o.secret("password")
	return u
}

// Basic is a user of basic authentication.
type Basic struct {
	noAuth
	User
}

func readBasic(o *object) Auth { return &Basic{User: o.readUser("basic")} }

func (a *Basic) fingerprint(add func(...string)) { add("basic", a.Name, a.Password) }
func (a *Basic) hide(m *Mask)                    { m.Add(a.Password, joined(a.Name, a.Password)) }

// joined is a name and a password as basic authentication sends them.
func joined(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}

// Bearer is a token that does not change.
type Bearer struct {
	noAuth
	Token string
}

func (a *Bearer) fingerprint(add func(...string)) { add("bearer", a.Token) }
func (a *Bearer) hide(m *Mask)                    { m.Add(a.Token) }

// APIKey is a key in a header, a query parameter or a cookie.
type APIKey struct {
	noAuth
	In, Name, Value string
}

func readAPIKey(o *object) Auth {
	a := &APIKey{In: o.choice("in", InHeader, InHeader, InQuery, InCookie), Name: o.needText("name")}
	if wrong := wrongHeader(a.Name); a.Name != "" && a.In == InHeader && wrong != "" {
		o.Fault("name", wrong)
	}
	if a.In == InCookie && !httpguts.ValidHeaderFieldName(a.Name) {
		o.Fault("name", "Not a valid cookie name.")
	}
	if a.Value = o.headerSecret("value"); a.In == InCookie && strings.ContainsAny(a.Value, "; ,\"\\") {
		o.Fault("value", "The value contains characters that are not allowed in a cookie.")
	}
	return a
}

func (a *APIKey) fingerprint(add func(...string)) { add("apiKey", a.In, a.Name, a.Value) }

func (a *APIKey) hide(m *Mask) {
	m.named = append(m.named, a.Name)
	m.Add(a.Value)
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
