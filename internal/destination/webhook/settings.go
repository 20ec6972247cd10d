package webhook

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// settings are the configuration of a webhook, as it is sealed.
type settings struct {
	Headers map[string]string `json:"headers,omitzero"`
	TLS     *certificates     `json:"tls,omitzero"`
	OAuth2  *oauth2           `json:"oauth2,omitzero"`
}

// shown is the part of the settings that is not secret. The names of the headers are kept
// beside it.
type shown struct {
	TLS    *certificates `json:"tls,omitzero"`
	OAuth2 *oauth2       `json:"oauth2,omitzero"`
}

// parseSettings parses a configuration. Previous releases stored the headers alone, as an
// object of texts; settings with headers alone are still stored so.
func parseSettings(config []byte) (s settings, err error) {
	if len(config) == 0 {
		return s, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(config, &members); err != nil {
		return s, err
	}
	for _, v := range members {
		if v.Kind() == '"' {
			return s, json.Unmarshal(config, &s.Headers)
		}
	}
	return s, json.Unmarshal(config, &s)
}

// config is the form that is sealed, nil for none.
func (s settings) config() ([]byte, error) {
	if s.TLS != nil || s.OAuth2 != nil {
		return json.Marshal(s, json.Deterministic(true))
	}
	if len(s.Headers) == 0 {
		return nil, nil
	}
	return json.Marshal(s.Headers, json.Deterministic(true))
}

// shown is the form that clients see, nil for none.
func (s settings) shown() ([]byte, error) {
	var v shown
	if s.TLS != nil {
		v.TLS = new(*s.TLS)
		if v.TLS.ClientKey != "" {
			v.TLS.ClientKey = feedmill.Hidden
		}
	}
	if s.OAuth2 != nil {
		v.OAuth2 = new(*s.OAuth2)
		v.OAuth2.ClientSecret = feedmill.Hidden
	}
	if v == (shown{}) {
		return nil, nil
	}
	return json.Marshal(v, json.Deterministic(true))
}

// mask replaces a secret in what an endpoint responded.
func mask(r *feedmill.Result, secret string) {
	if secret == "" {
		return
	}
	r.Body = bytes.ReplaceAll(r.Body, []byte(secret), []byte(feedmill.Hidden))
	for i, field := range r.Header {
		r.Header[i][1] = string(bytes.ReplaceAll([]byte(field[1]), []byte(secret), []byte(feedmill.Hidden)))
	}
}
