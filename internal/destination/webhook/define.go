package webhook

import (
	"maps"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

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
	config, err = defineHeaders(r, &d, changesURL)
	return d, config, err
}

// defineHeaders makes the extra headers. Their values were given for one origin and go to
// no other: a change that names another origin starts without them, and has to say so.
func defineHeaders(r feedmill.DestinationRequest, d *feedmill.Destination, changesURL bool) (config []byte, err error) {
	change := readHeaders(r)
	moves := changesURL && len(r.Was.ConfigNames) > 0 && !sameOrigin(d.URL, r.Was.URL)
	if change == nil {
		if moves {
			r.Faults.Note("/delivery/headers", "The new URL has another origin, so the stored headers are not sent to it. Set the headers again, or null for none.")
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
	headers := change.apply(old, r.Faults)
	d.Config, d.ConfigNames = nil, slices.Sorted(maps.Keys(headers))
	if len(headers) == 0 {
		return nil, nil
	}
	return json.Marshal(headers, json.Deterministic(true))
}
