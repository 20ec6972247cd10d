package spec

import (
	"github.com/feedmill/feedmill/internal/strictjson"
)

// OAuth1 is a client with its secret, and a token with another.
type OAuth1 struct {
	noAuth
	Key, Secret, Token, TokenSecret string
}

// readOAuth1 reads the secrets of a client and of its token (RFC 5849). Without a token the
// client signs for itself.
func readOAuth1(o *object) Auth {
	a := &OAuth1{Key: o.needText("consumerKey"), Secret: o.needText("consumerSecret")}
	o.secret("consumerSecret")
	a.Token, _ = o.text("token")
	a.TokenSecret, _ = o.text("tokenSecret")
	for _, name := range []string{"token", "tokenSecret"} {
		if o.Has(name) {
			o.secret(name)
		}
	}
	if o.Has("token") != o.Has("tokenSecret") {
		missing := "token"
		if o.Has("token") {
			missing = "tokenSecret"
		}
		o.Fault(missing, strictjson.Required)
	}
	return a
}

func (a *OAuth1) fingerprint(add func(...string)) {
	add("oauth1", a.Key, a.Secret, a.Token, a.TokenSecret)
}
func (a *OAuth1) hide(m *Mask) { m.Add(a.Secret, a.Token, a.TokenSecret) }
