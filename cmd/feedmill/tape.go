package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/feedmill/feedmill/client"
)

// tape keeps what the service answers, so that machines get it as it was said:
// with every field, known to this program or not.
type tape struct {
	next    http.RoundTripper
	answers []json.RawMessage
}

// record keeps the answers to a client.
func (t *tape) record(c *client.Client) {
	if t.next = c.HTTP.Transport; t.next == nil {
		t.next = http.DefaultTransport
	}
	c.HTTP.Transport = t
}

// RoundTrip makes a request and keeps a good answer to it.
func (t *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil || resp.StatusCode >= 300 {
		return resp, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if len(text) > 0 {
		t.answers = append(t.answers, text)
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

// document is the last answer, without the envelope of a single resource.
func (t *tape) document() json.RawMessage {
	if len(t.answers) == 0 {
		return json.RawMessage("null")
	}
	last := t.answers[len(t.answers)-1]
	var envelope struct {
		Meta json.RawMessage `json:"meta"`
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(last, &envelope) == nil && envelope.Meta != nil && envelope.Data != nil {
		return envelope.Data
	}
	return last
}

// records are the first records of a list, whatever pages they came in. A
// limit of zero is none.
func (t *tape) records(limit int) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	for _, page := range t.answers {
		var records []json.RawMessage
		if err := json.Unmarshal(page, &records); err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all, nil
}
