package feedmill

import (
	"io"
	"net/url"
)

// HTTPRequest is a request of an exchange over HTTP.
type HTTPRequest struct {
	// Workspace is whose request it is. A connection that is kept open serves
	// one workspace only: what an endpoint writes on it at the wrong moment
	// must not become the answer to another's request.
	Workspace ID
	Method    string
	URL       *url.URL
	// Header has names in their canonical form.
	Header [][2]string
	// Body is sent with a POST.
	Body []byte
}

// HTTPAnswer is what an endpoint answers.
type HTTPAnswer struct {
	Status int
	// Header has names in their canonical form.
	Header [][2]string
	// Body is plain, whatever its encoding was, and bounded. It is to be
	// closed.
	Body io.ReadCloser
}

// Values are the values of a header, by its canonical name.
func (a *HTTPAnswer) Values(name string) (values []string) {
	for _, field := range a.Header {
		if field[0] == name {
			values = append(values, field[1])
		}
	}
	return values
}
