package webhook

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
)

// Define makes the destination that a request describes, and notes every fault of the
// request. A configuration that is returned replaces the one in the destination.
func (k *Kind) Define(r feedmill.DestinationRequest) (d feedmill.Destination, config []byte, err error) {
	d = r.Was
	d.Kind = feedmill.DestinationWebhook
	changesURL := false
	if f, ok := r.Body.Get("url"); ok {
		if text, ok := k.readURL(f); ok {
			d.URL, changesURL = text, true
		}
	}
	if f, ok := r.Body.Get("httpOperation"); d.Method == "" || ok && f.Kind == 'n' {
		d.Method = http.MethodPost
	}
	if f, ok := r.Body.Given("httpOperation"); ok {
		if method, ok := f.Choice(http.MethodPost, http.MethodGet); ok {
			d.Method = method
		}
	}
	if clashesWithPayload(d.URL, d.Method) {
		at := "/httpOperation"
		if changesURL {
			at = "/url"
		}
		r.Faults.Note(at, payloadClash)
	}
	config, err = k.defineSettings(r, &d, changesURL)
	return d, config, err
}

// defineSettings makes the headers, the certificates and the client credentials. They were
// given for one origin and go to no other: a change that names another origin starts
// without them, and has to say so.
func (k *Kind) defineSettings(r feedmill.DestinationRequest, d *feedmill.Destination, changesURL bool) (config []byte, err error) {
	headers, hasHeaders := readHeaders(r), false
	tls, hasTLS := r.Member("tls")
	auth, hasAuth := r.Member("oauth2")
	if hasHeaders = headers != nil; !hasHeaders && !hasTLS && !hasAuth && !changesURL && !r.ResetDelivery {
		return nil, nil
	}
	was, err := settingsOf(r)
	if err != nil {
		return nil, err
	}
	kept, moved := was, ""
	if changesURL && !sameOrigin(d.URL, r.Was.URL) {
		kept, moved = settings{}, "url"
	}
	made := settings{Headers: kept.Headers}
	if !r.ResetDelivery {
		made.OAuth2 = kept.OAuth2
		if hasAuth {
			made.OAuth2 = k.readOAuth2(auth, kept.OAuth2)
		}
		if kept.OAuth2 != nil && made.OAuth2 != nil && !sameOrigin(kept.OAuth2.TokenURL, made.OAuth2.TokenURL) {
			kept, moved = settings{}, "oauth2.tokenUrl"
		}
		made.TLS = kept.TLS
		if hasTLS {
			made.TLS = readCertificates(tls, kept.TLS, d.URL)
		}
	}
	if moved != "" && !r.ResetDelivery {
		refuseKeeping := func(stored, given bool, name string) {
			if stored && !given {
				r.Faults.Note("/delivery/"+name, fmt.Sprintf("The new %s has another origin, so the stored value of %s is not sent to it. Set %s again, or null for none.", moved, name, name))
			}
		}
		refuseKeeping(len(was.Headers) > 0, hasHeaders, "headers")
		refuseKeeping(was.TLS != nil, hasTLS, "tls")
		refuseKeeping(was.OAuth2 != nil, hasAuth, "oauth2")
	}
	if hasHeaders {
		made.Headers = headers.apply(kept.Headers, r.Faults)
	}
	if _, ok := made.Headers["Authorization"]; ok && made.OAuth2 != nil {
		r.Faults.Note("/delivery/oauth2", "oauth2 sets the header Authorization, which delivery.headers has too. Remove one of them.")
	}
	d.Config, d.ConfigNames = nil, slices.Sorted(maps.Keys(made.Headers))
	if d.Shown, err = made.shown(); err != nil {
		return nil, err
	}
	return made.config()
}

// settingsOf are the settings before a change.
func settingsOf(r feedmill.DestinationRequest) (settings, error) {
	if len(r.Was.Config) == 0 {
		return settings{}, nil
	}
	config, err := r.OpenConfig()
	if err != nil {
		return settings{}, err
	}
	return parseSettings(config)
}
