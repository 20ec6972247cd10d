package brokertest

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Define has a kind define the destination of a request, given as JSON. A configuration is
// not sealed. It returns the faults as text, one in each line.
func Define(t *testing.T, kind interface {
	Define(feedmill.DestinationRequest) (feedmill.Destination, []byte, error)
}, was feedmill.Destination, body string,
) (d feedmill.Destination, faults string) {
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
