package webhook

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/fault"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// oauth2 are the client credentials that a webhook gets its access tokens with.
type oauth2 struct {
	TokenURL     string `json:"tokenUrl"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	Scope        string `json:"scope,omitzero"`
	Audience     string `json:"audience,omitzero"`
}

// maxOAuth2Text is the maximum length of a text of [oauth2] other than the URL.
const maxOAuth2Text = 4 << 10

// readOAuth2 reads delivery.oauth2, which replaces the old settings as a whole. The text
// [feedmill.Hidden] keeps the old secret for the same origin.
func (k *Kind) readOAuth2(f strictjson.Field, old *oauth2) *oauth2 {
	if f.Kind == 'n' {
		return nil
	}
	o, ok := f.Object()
	if !ok {
		return nil
	}
	defer o.RefuseUnknown()
	c := new(oauth2)
	if f, ok := o.Need("tokenUrl"); ok {
		c.TokenURL = k.readTokenURL(f)
	}
	if f, ok := o.Need("clientId"); ok {
		c.ClientID = readOAuth2Text(f)
	}
	if f, ok := o.Need("clientSecret"); ok {
		if c.ClientSecret = readOAuth2Text(f); c.ClientSecret == feedmill.Hidden {
			switch {
			case old == nil:
				f.Fault("The secret has no stored value to keep. Set its value.")
			case c.TokenURL != "" && !sameOrigin(c.TokenURL, old.TokenURL):
				f.Fault("The new tokenUrl has another origin, so the stored secret is not sent to it. Set its value.")
			default:
				c.ClientSecret = old.ClientSecret
			}
		}
	}
	if f, ok := o.Given("scope"); ok {
		c.Scope = readOAuth2Text(f)
	}
	if f, ok := o.Given("audience"); ok {
		c.Audience = readOAuth2Text(f)
	}
	return c
}

// readTokenURL reads the URL of a token endpoint. Nothing of it is repeated but the host.
func (k *Kind) readTokenURL(f strictjson.Field) string {
	text, ok := f.Text()
	if !ok {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case len(text) > feedmill.MaxSubscriptionURL:
		f.Fault(fmt.Sprintf("tokenUrl must have at most %d bytes.", feedmill.MaxSubscriptionURL))
	case err != nil || !isPrintable(text):
		f.Fault("tokenUrl must be an ASCII URL such as https://auth.example.com/oauth2/token. Percent-encode special characters.")
	case u.User != nil:
		f.Fault("tokenUrl must not contain a user name or password. Use clientId and clientSecret.")
	case strings.Contains(text, "#"):
		f.Fault("tokenUrl must not have a fragment.")
	default:
		if err := k.URLs.CheckURL(u); err != nil {
			f.Fault("tokenUrl is not valid: " + fault.WithoutKind(err) + ".")
		}
	}
	return text
}

// isPrintable reports whether a text has only printable ASCII characters other than spaces.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// readOAuth2Text reads a text that a token request contains.
func readOAuth2Text(f strictjson.Field) string {
	text, ok := f.Text()
	switch {
	case !ok:
	case text == "":
		f.Fault("The value must not be empty.")
	case len(text) > maxOAuth2Text:
		f.Fault(fmt.Sprintf("The value must have at most %d bytes.", maxOAuth2Text))
	case strings.ContainsFunc(text, strictjson.IsControl):
		f.Fault("The value must not contain control characters.")
	}
	return text
}
