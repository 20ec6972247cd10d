package rest

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// auth is how the requests of a source are signed. Each kind is a type of its own, which
// embeds [unsigned] for what it does not have.
type auth interface {
	// sign puts the credential into a request, with the token that was received for it.
	sign(request *http.Request, token string)
	// receiver receives a token for the credential; nil where there is none to receive.
	receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver
	// signsAddress reports whether the credential is a signature of the request, which a
	// redirect needs anew.
	signsAddress() bool
	// stamps reports whether the time of a request and a nonce are signed.
	stamps() bool
	// digest is who answers the challenges of a server; nil where they are not answered.
	digest() *digestUser
	// places are where secrets are sent besides the requests of the source. A URL is nil
	// where it could not be read.
	places() []NamedURL
	// tell adds what tells credentials of the kind apart.
	tell(add func(parts ...string))
	// hide has a mask know the secrets.
	hide(m *mask)
}

// tokenReceiver receives a token for the secrets of a spec.
type tokenReceiver func(context.Context, *tokenSlot) (receivedToken, error)

// authKinds are the kinds of authentication and what reads each.
var authKinds = []struct {
	name string
	read func(*object) auth
}{
	{authNone, func(*object) auth { return unsigned{} }},
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
		return unsigned{}
	}
	a := authKinds[slices.Index(names, kind)].read(o)
	o.RefuseUnknown()
	return a
}

// unsigned is for requests that nobody signs.
type unsigned struct{}

func (unsigned) sign(*http.Request, string)                             {}
func (unsigned) receiver(*run, *[]feedmill.TracedRequest) tokenReceiver { return nil }
func (unsigned) signsAddress() bool                                     { return false }
func (unsigned) stamps() bool                                           { return false }
func (unsigned) digest() *digestUser                                    { return nil }
func (unsigned) places() []NamedURL                                     { return nil }
func (unsigned) tell(add func(...string))                               { add(authNone) }
func (unsigned) hide(*mask)                                             {}

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
	unsigned
	user
}

func readBasic(o *object) auth { return &basic{user: o.readUser("basic")} }

func (a *basic) sign(request *http.Request, _ string) { request.SetBasicAuth(a.name, a.password) }
func (a *basic) tell(add func(...string))             { add("basic", a.name, a.password) }
func (a *basic) hide(m *mask)                         { m.add(a.password, joined(a.name, a.password)) }

// joined is a name and a password as basic authentication sends them.
func joined(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}

// bearer is a token that does not change.
type bearer struct {
	unsigned
	token string
}

func (a *bearer) sign(request *http.Request, _ string) {
	request.Header.Set("Authorization", "Bearer "+a.token)
}
func (a *bearer) tell(add func(...string)) { add("bearer", a.token) }
func (a *bearer) hide(m *mask)             { m.add(a.token) }

// apiKey is a key in a header, a query parameter or a cookie.
type apiKey struct {
	unsigned
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

func (a *apiKey) sign(request *http.Request, _ string) {
	switch a.in {
	case inHeader:
		request.Header.Set(a.name, a.value)
	case inQuery:
		request.URL.RawQuery = setQuery(request.URL.RawQuery, a.name, a.value)
	case inCookie:
		request.AddCookie(&http.Cookie{Name: a.name, Value: a.value})
	}
}

func (a *apiKey) signsAddress() bool       { return a.in == inQuery }
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
