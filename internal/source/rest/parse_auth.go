package rest

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// readAuth reads how requests are signed.
func readAuth(o *object) auth {
	kind, known := o.kind(authNone, authBasic, authBearer, authAPIKey, authOAuth, authRenew, authJWT, authAWS, authLogin, authDigest, authOAuth1, authHMAC)
	if !known {
		return auth{kind: authNone}
	}
	a := auth{kind: kind}
	switch a.kind {
	case authBasic:
		a.username = o.needText("username")
		if strings.Contains(a.username, ":") {
			o.Fault("username", "A user name for basic authentication has no colon.")
		}
		if a.password, _ = o.text("password"); !o.Has("password") {
			o.unreadable("password", strictjson.Required)
		}
		o.secret("password")
	case authBearer:
		a.value = o.headerSecret("token")
	case authAPIKey:
		a.in = o.choice("in", inHeader, inHeader, inQuery, inCookie)
		a.name = o.needText("name")
		if wrong := wrongHeader(a.name); a.name != "" && a.in == inHeader && wrong != "" {
			o.Fault("name", wrong)
		}
		if a.in == inCookie && !httpguts.ValidHeaderFieldName(a.name) {
			o.Fault("name", "This is no name of a cookie.")
		}
		if a.value = o.headerSecret("value"); a.in == inCookie && strings.ContainsAny(a.value, "; ,\"\\") {
			o.Fault("value", "The value holds characters that a cookie cannot.")
		}
	case authOAuth:
		o.readClient(&a)
		o.readTokenParameters(&a)
	case authRenew:
		o.readRenewal(&a)
	case authJWT:
		o.readServiceAccount(&a)
	case authAWS:
		a.username, a.password = o.needText("accessKeyId"), o.needText("secretAccessKey")
		o.secret("secretAccessKey")
		a.region, a.service = o.needText("region"), o.needText("service")
		if o.Has("sessionToken") {
			a.token = o.headerSecret("sessionToken")
		}
	case authLogin:
		o.readLogin(&a)
	case authDigest:
		o.readDigest(&a)
	case authOAuth1:
		o.readOAuth1(&a)
	case authHMAC:
		o.readHMAC(&a)
	}
	o.RefuseUnknown()
	return a
}

// headerSecret reads a secret that can stand in a header.
func (o *object) headerSecret(name string) string {
	s := o.needText(name)
	if !httpguts.ValidHeaderFieldValue(s) {
		o.Fault(name, "The value holds characters that a header cannot, such as line breaks.")
	}
	o.secret(name)
	return s
}

// readTokenURL reads where tokens are asked for.
func (o *object) readTokenURL(a *auth) {
	if text := o.needText("tokenUrl"); text != "" {
		t, _, err := parseURL(text)
		u, _ := url.Parse(text)
		switch {
		case err != nil:
			o.unreadable("tokenUrl", upperFirst(err.Error())+".")
		case !t.plain() || u == nil:
			o.Fault("tokenUrl", "There are no tokens in this URL.")
		case slices.ContainsFunc(queryNames(u), looksSecret):
			o.Fault("tokenUrl", "The URL must not hold a secret in its query; use clientSecret.")
		default:
			a.tokenURL = u
		}
	}
	a.scope, _ = o.text("scope")
}

// readClient reads a client that is given tokens for its secret.
func (o *object) readClient(a *auth) {
	o.readTokenURL(a)
	a.username = o.needText("clientId")
	a.password = o.needText("clientSecret")
	o.secret("clientSecret")
}

// readTokenParameters reads what the request for a token has besides the secrets of the client.
func (o *object) readTokenParameters(a *auth) {
	a.audience, _ = o.text("audience")
	a.placement = o.choice("placement", "", placementBasic, placementBody)
	a.parameters = o.params("parameters", func(name string) string {
		if slices.Contains([]string{"grant_type", "client_id", "client_secret", "scope", "audience"}, strings.ToLower(name)) {
			return name + " is not a parameter of its own: clientId, clientSecret, scope and audience of auth are sent by these names."
		}
		return ""
	})
	for _, p := range a.parameters {
		if slices.ContainsFunc(p.values, func(t template) bool { return !t.plain() }) {
			o.Fault("parameters", "The parameters of a token request must not have tokens such as {{today}}.")
		}
	}
}

// readRenewal reads a client that is given tokens for one that it was given when
// somebody signed in. A client that is known to everybody has no secret.
func (o *object) readRenewal(a *auth) {
	o.readTokenURL(a)
	a.username = o.needText("clientId")
	if a.password, _ = o.text("clientSecret"); o.Has("clientSecret") {
		o.secret("clientSecret")
	}
	a.value = o.needText("refreshToken")
	o.secret("refreshToken")
}

// readServiceAccount reads an account that is given tokens for its signed word.
func (o *object) readServiceAccount(a *auth) {
	o.readTokenURL(a)
	if text := o.needText("privateKey"); text != "" {
		var err error
		if a.key, err = parsePrivateKey(text); err != nil {
			o.unreadable("privateKey", upperFirst(err.Error())+".")
		}
		a.value = text
	}
	o.secret("privateKey")
	a.issuer = o.needText("issuer")
	a.keyID, _ = o.text("keyId")
	a.subject, _ = o.text("subject")
	a.audience, _ = o.text("audience")
}

func queryNames(u *url.URL) (names []string) {
	for name := range u.Query() {
		names = append(names, name)
	}
	return names
}

func (o *object) readLogin(a *auth) {
	a.header, a.prefix = "Authorization", "Bearer"
	if in := o.object("request"); in != nil {
		cursor := o.r.usesCursor
		if a.login = readRequest(in, "POST"); o.r.usesCursor != cursor {
			o.r.fault(o.r.usesCursor, "A login has no cursor.")
		}
		if body := in.Value.Member("body"); body != nil && body.Member("value") != nil {
			at := in.pointer("body") + "/value"
			o.r.secrets = slices.DeleteFunc(o.r.secrets, func(p string) bool { return strings.HasPrefix(p, at+"/") })
			o.r.secrets = append(o.r.secrets, at)
		}
	} else if !o.Has("request") {
		o.unreadable("request", strictjson.Required)
	}
	given := 0
	for _, name := range []string{"tokenPath", "tokenHeader", "tokenCookie"} {
		if o.Has(name) {
			given++
		}
	}
	if given != 1 {
		o.unreadable("tokenPath", "Say where the token is with one of tokenPath, tokenHeader and tokenCookie.")
	}
	a.tokenPath = o.path("tokenPath", false)
	a.tokenHeader, _ = o.text("tokenHeader")
	if a.tokenCookie, _ = o.text("tokenCookie"); a.tokenCookie != "" {
		a.header, a.prefix = "Cookie", a.tokenCookie+"="
	}
	if s, ok := o.text("header"); ok {
		a.header = s
		if wrong := wrongHeader(s); wrong != "" {
			o.Fault("header", wrong)
		}
		if !strings.EqualFold(s, "Authorization") && (a.tokenCookie == "" || !strings.EqualFold(s, "Cookie")) {
			a.prefix = ""
		}
	}
	if s, ok := o.text("prefix"); ok {
		a.prefix = s
		if !httpguts.ValidHeaderFieldValue(s) {
			o.Fault("prefix", "This holds characters that a header cannot, such as line breaks.")
		}
	}
}
