package spec

import (
	"slices"

	"golang.org/x/net/http/httpguts"
)

// The tokens of a request that is signed with hmac: those that the request may have, and
// those that only the text which is signed may have.
var (
	stampWords  = []string{"timestamp", "timestampMs", "nonce"}
	signedWords = []string{"method", "host", "path", "query", "url", "body"}
)

// HMAC is what is signed with a shared secret, how the signature is written, and where it
// is sent.
type HMAC struct {
	noAuth
	Secret    string
	Algorithm string
	Over      Template
	Encoding  string
	In, Name  string
}

func (a *HMAC) fingerprint(add func(...string)) {
	add(authHMAC, a.Secret, a.In, a.Name, a.Algorithm, a.Over.Text)
}

func (a *HMAC) hide(m *Mask) {
	if m.Add(a.Secret); a.In == InQuery {
		m.named = append(m.named, a.Name)
	}
}

// readStampWords has the requests of a source that is signed with hmac know its tokens.
func readStampWords(o *object) {
	if a := o.Value.Member("auth"); a != nil && a.Kind == '{' {
		if kind := a.Member("kind"); kind != nil && kind.Kind == '"' && kind.Text() == authHMAC {
			o.r.variables = append(o.r.variables, stampWords...)
		}
	}
}

// readHMAC reads how a text that describes the request is signed with a shared secret.
func readHMAC(o *object) Auth {
	a := new(HMAC)
	a.Algorithm = o.choice("algorithm", "sha256", "sha256", "sha512", "sha384", "sha1", "md5")
	a.Encoding = o.choice("encoding", "hex", "hex", "base64", "base64url")
	a.Secret = o.needText("secret")
	o.secret("secret")
	variables := o.r.variables
	for _, word := range variables[:len(variables)-len(stampWords)] { // the word of each
		if slices.Contains(slices.Concat(stampWords, signedWords), word) {
			o.r.fault("/each/as", "With auth.kind hmac, "+word+" is a token of the request; use another word.")
		}
	}
	o.r.variables = append(slices.Clone(variables), signedWords...)
	if o.needText("over") != "" {
		a.Over, _ = o.template("over")
	}
	o.r.variables = variables
	switch {
	case o.Has("header") == o.Has("param"):
		o.unreadable("header", "Set where the signature is sent: either header or param.")
		o.Know("param")
	case o.Has("header"):
		a.In, a.Name = InHeader, o.needText("header")
		if wrong := wrongHeader(a.Name); a.Name != "" && wrong != "" {
			o.Fault("header", wrong)
		}
	default:
		a.In, a.Name = InQuery, o.needText("param")
	}
	if !httpguts.ValidHeaderFieldValue(a.Name) {
		o.Fault("param", "param must not contain control characters.")
	}
	return a
}
