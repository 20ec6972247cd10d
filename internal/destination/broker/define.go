package broker

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/fault"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Define makes the destination that a request describes, and notes every fault of the
// request. A configuration that is returned replaces the one in the destination.
func (k *Kind) Define(r feedmill.DestinationRequest) (d feedmill.Destination, config []byte, err error) {
	d = r.Was
	d.Kind, d.Method = k.Name(), ""
	changesURL := false
	if f, ok := r.Body.Get("url"); ok {
		if text, ok := k.readURL(f); ok {
			d.URL, changesURL = text, true
		}
	}
	if f, ok := r.Body.Given("httpOperation"); ok {
		f.Fault("httpOperation applies only to webhooks. Remove it, or set it to null.")
	}
	config, err = k.defineCredentials(r, &d, changesURL)
	return d, config, err
}

// readURL reads the URL of a broker and notes what is wrong with it.
func (k *Kind) readURL(f strictjson.Field) (text string, ok bool) {
	if text, ok = f.Text(); !ok {
		return "", false
	}
	if len(text) > feedmill.MaxSubscriptionURL {
		f.Fault(fmt.Sprintf("url must have at most %d bytes.", feedmill.MaxSubscriptionURL))
		return text, false
	}
	address, err := parseAddress(text, k.Form())
	if err != nil {
		f.Fault(err.Error() + ".")
		return text, false
	}
	for _, hostPort := range address.Hosts {
		host, _, _ := net.SplitHostPort(hostPort)
		if err := k.Hosts.CheckHost(host); err != nil {
			f.Fault("url is not valid: " + fault.WithoutKind(err) + ".")
			ok = false
		}
	}
	if detail := k.CheckAddress(address); detail != "" {
		f.Fault(detail)
		ok = false
	}
	return text, ok
}

// defineCredentials makes the credentials. They were given for one origin and go to no
// other: a change that names another origin starts without them, and has to say so.
func (k *Kind) defineCredentials(r feedmill.DestinationRequest, d *feedmill.Destination, changesURL bool) (config []byte, err error) {
	if r.ResetDelivery {
		d.Config, d.ConfigNames = nil, nil
		return nil, nil
	}
	moves := changesURL && len(r.Was.ConfigNames) > 0 && !sameOrigin(d.URL, r.Was.URL, k.Form())
	var given strictjson.Field
	ok := false
	if r.Delivery != nil {
		given, ok = r.Delivery.Get("credentials")
	}
	if !ok {
		if moves {
			r.Faults.Note("/delivery/credentials", "The new URL has another origin, so the stored credentials are not sent to it. Set the credentials again, or null for none.")
		}
		return nil, nil
	}
	var old map[string]string
	if len(r.Was.Config) > 0 && !moves {
		if config, err = r.OpenConfig(); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(config, &old); err != nil {
			return nil, err
		}
	}
	credentials := k.readCredentials(given, old)
	d.Config, d.ConfigNames = nil, slices.Sorted(maps.Keys(credentials))
	if len(credentials) == 0 {
		return nil, nil
	}
	return json.Marshal(credentials, json.Deterministic(true))
}

// readCredentials reads credentials, which replace the old ones. The text [feedmill.Hidden]
// keeps an old value.
func (k *Kind) readCredentials(given strictjson.Field, old map[string]string) map[string]string {
	if given.Kind == 'n' {
		return nil
	}
	o, ok := given.Object()
	if !ok {
		return nil
	}
	defer o.RefuseUnknown()
	credentials, size := make(map[string]string), 0
	for _, name := range k.Form().Credentials {
		f, ok := o.Given(name)
		if !ok {
			continue
		}
		text, ok := f.Text()
		if ok && text == feedmill.Hidden {
			if text, ok = old[name]; !ok {
				f.Fault("The credential has no stored value to keep. Set its value.")
			}
		}
		switch {
		case !ok:
		case text == "":
			f.Fault(name + " must not be empty.")
		case strings.ContainsFunc(text, isControl):
			f.Fault(name + " must not contain control characters.")
		}
		credentials[name] = text
		size += len(text)
	}
	if size > feedmill.MaxCredentialBytes {
		given.Fault(fmt.Sprintf("credentials must have at most %d bytes.", feedmill.MaxCredentialBytes))
	} else if detail := k.CheckCredentials(credentials); detail != "" {
		given.Fault(detail)
	}
	return credentials
}

// isControl reports whether no credential has a character. Those that are files have lines.
func isControl(r rune) bool { return strictjson.IsControl(r) && r != '\n' && r != '\r' }
