package api

import (
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// exchangeView is one request to an endpoint and what came of it.
type exchangeView struct {
	At      timestamp             `json:"at"`
	Status  int                   `json:"status,omitzero"`
	Headers []client.AnswerHeader `json:"headers"`
	// HeadersTruncated says that there were more of them.
	HeadersTruncated bool          `json:"headersTruncated,omitzero"`
	Timing           client.Timing `json:"timing"`
	Error            string        `json:"error,omitzero"`
	// Body is text: what is no UTF-8 in it is replaced.
	Body          *string `json:"body,omitzero"`
	BodyTruncated bool    `json:"bodyTruncated,omitzero"`
}

func inMilliseconds(d time.Duration) client.Milliseconds {
	return client.Milliseconds(d.Microseconds()) / 1000
}

// attemptView is an exchange that was part of a delivery.
type attemptView struct {
	ID           feedmill.ID `json:"id"`
	Number       int         `json:"number"`
	exchangeView `json:",inline"`
	// Request is null where the subscription is gone.
	Request *client.SentRequest `json:"request"`
}

// pingView is an exchange that was made to test an endpoint.
type pingView struct {
	Succeeded    bool `json:"succeeded"`
	exchangeView `json:",inline"`
}

func viewExchange(a feedmill.Attempt) exchangeView {
	v := exchangeView{
		At: timestamp(a.At), Status: a.Status, Headers: make([]client.AnswerHeader, len(a.Header)), Error: valid(a.Error),
		Timing: client.Timing{
			DNS: inMilliseconds(a.Timing.DNS), Connect: inMilliseconds(a.Timing.Connect), TLS: inMilliseconds(a.Timing.TLS),
			FirstByte: inMilliseconds(a.Timing.FirstByte), Total: inMilliseconds(a.Timing.Total),
		},
	}
	for i, h := range a.Header {
		v.Headers[i] = client.AnswerHeader{Name: valid(h[0]), Value: valid(h[1])}
	}
	if last := len(a.Header) - 1; last >= 0 && a.Header[last] == feedmill.LinesLeftOut {
		v.Headers, v.HeadersTruncated = v.Headers[:last], true
	}
	if len(a.Body) > 0 {
		text := valid(string(a.Body))
		v.Body, v.BodyTruncated = &text, len(a.Body) >= feedmill.MaxKeptAnswer
	}
	return v
}

// valid is a text of somebody else's in a form that JSON can hold.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
