package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func TestProblemsMatchTheirKind(t *testing.T) {
	kinds := map[int]error{
		400: feedmill.ErrInvalid, 401: feedmill.ErrUnauthenticated, 403: feedmill.ErrForbidden, 404: feedmill.ErrNotFound,
		409: feedmill.ErrConflict, 413: feedmill.ErrTooLarge, 415: feedmill.ErrUnsupported, 422: feedmill.ErrUnprocessable,
		429: feedmill.ErrTooMany, 503: feedmill.ErrUnavailable,
	}
	for status := range 600 {
		err := fmt.Errorf("wrapped: %w", &client.Problem{Status: status})
		for of, kind := range kinds {
			if got, want := errors.Is(err, kind), of == status; got != want {
				t.Errorf("a problem with status %d is %q: %v", status, kind, got)
			}
		}
	}
}

// What has no field in [client.Problem] is kept, because what can be wrong with
// data is told in members of its own.
func TestProblemKeepsItsDocument(t *testing.T) {
	const document = `{"type":"/problems/bad-row","title":"A row is wrong","status":422,"detail":"Mend it.","instance":"/x","line":7,"errors":[{"pointer":"","detail":"All of it."}]}`
	c, _ := over(answer{status: 422, body: document})
	_, err := c.Event(t.Context(), "evt_1")
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok || problem.Kind() != "bad-row" || string(problem.Document) != document || problem.Temporary() || problem.Errors[0].Where() != "" {
		t.Errorf("the error is %#v", err)
	}
	// Without a document there are still words, and they are JSON as well.
	text, err := json.Marshal(&client.Problem{Title: "Bad Gateway", Status: 502, Detail: "Look."})
	if want := `{"type":"","title":"Bad Gateway","status":502,"detail":"Look.","instance":""}`; err != nil || string(text) != want {
		t.Errorf("the JSON is %s (%v), want %s", text, err, want)
	}
}
