package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// forwarder sends what is listened to on to a program.
type forwarder struct {
	to     string
	client *http.Client
	// headers are set besides those of the delivery.
	headers map[string]string
}

// newForwarder makes a forwarder to a URL, whose scheme may be left out.
func newForwarder(to string, headers map[string]string) (*forwarder, error) {
	if !strings.Contains(to, "://") {
		to = "http://" + to
	}
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, usagef("--forward-to must be a URL such as http://localhost:3000/hook")
	}
	for name, value := range headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, usagef("--header %s is not a valid header", name)
		}
	}
	return &forwarder{to: to, headers: headers, client: &http.Client{
		// As with any webhook: no proxy of the environment's, no redirects,
		// and so much time for the whole exchange. A connection that is used
		// once cannot have broken before, so that nothing is sent again or
		// fails because the program was restarted.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       feedmill.DefaultTimeout,
	}}, nil
}

// maxShownBody is how many bytes of a failed response are shown.
const maxShownBody = 500

// send forwards a delivery once and returns the status, or why there is none. It returns the
// beginning of a failed response.
func (f *forwarder) send(ctx context.Context, d client.ListenerDelivery) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to, strings.NewReader(d.Body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range f.headers {
		req.Header.Set(name, value)
		if http.CanonicalHeaderKey(name) == "Host" {
			req.Host = value
		}
	}
	for name, value := range d.Headers {
		req.Header.Set(name, value)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, "", inWords(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		kept, _ := io.ReadAll(io.LimitReader(resp.Body, maxShownBody+1)) // the status has been received
		if body = strings.TrimSpace(strings.ToValidUTF8(string(kept), "\ufffd")); len(kept) > maxShownBody {
			body += "…"
		}
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, feedmill.MaxReadAnswer)) // the receiver is to finish
	return resp.StatusCode, body, nil
}

// inWords is what went wrong, without the URL, which stands above all lines.
func inWords(err error) error {
	var timeout interface{ Timeout() bool }
	switch op, dial := errors.AsType[*net.OpError](err); {
	case errors.Is(err, context.Canceled):
		return errors.New("stopped before a response was received")
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no complete response within %s", feedmill.DefaultTimeout)
	case dial && op.Op == "dial":
		return fmt.Errorf("no connection: %w", op.Err)
	}
	if whole, ok := errors.AsType[*url.Error](err); ok {
		err = whole.Err
	}
	return fmt.Errorf("the connection was closed before a response was received: %w", err)
}
