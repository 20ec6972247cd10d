package brokertest

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// definer is a kind that defines destinations.
type definer interface {
	Name() feedmill.DestinationKind
	Define(feedmill.DestinationRequest) (feedmill.Destination, []byte, error)
}

// Define has a kind define the destination of a request, given as JSON. A configuration is
// not sealed. It returns the faults as text, one in each line.
func Define(t *testing.T, kind definer, was feedmill.Destination, body string) (d feedmill.Destination, faults string) {
	t.Helper()
	found := new(feedmill.Faults)
	v, ok := strictjson.Read([]byte(body), strictjson.Part{}, found.Note)
	if !ok {
		t.Fatalf("%s is not valid JSON: %v", body, found.List)
	}
	r := feedmill.DestinationRequest{
		Body: strictjson.NewObject(&v, "", found.Note), Was: was, Faults: found, OpenConfig: func() ([]byte, error) { return was.Config, nil },
	}
	if f, ok := r.Body.Get("delivery"); ok {
		if r.ResetDelivery = f.Kind == 'n'; !r.ResetDelivery {
			r.Delivery, _ = f.Object()
		}
	}
	d, config, err := kind.Define(r)
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		d.Config = config
	}
	var texts []string
	for _, f := range found.List {
		texts = append(texts, f.Pointer+": "+f.Detail)
	}
	return d, strings.Join(texts, "\n")
}

// CheckURLs checks URLs, each with a part of the faults that it has; empty if it is valid.
func CheckURLs(t *testing.T, kind definer, urls map[string]string) {
	t.Helper()
	for url, want := range urls {
		d, faults := Define(t, kind, feedmill.Destination{}, `{"url":"`+url+`"}`)
		if want == "" && (faults != "" || d.URL != url || d.Kind != kind.Name()) || !strings.Contains(faults, want) || want != "" && faults == "" {
			t.Errorf("%s: %q, want %q", url, faults, want)
		}
	}
}

// CheckCredentials checks credentials for a URL, given as JSON, each with a part of the
// faults that they have; empty if they are valid.
func CheckCredentials(t *testing.T, kind definer, url string, all map[string]string) {
	t.Helper()
	for credentials, want := range all {
		_, faults := Define(t, kind, feedmill.Destination{}, `{"url":"`+url+`","delivery":{"credentials":`+credentials+`}}`)
		if want == "" && faults != "" || !strings.Contains(faults, want) || want != "" && faults == "" {
			t.Errorf("%s: %q, want %q", credentials, faults, want)
		}
	}
}
