package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Report is data that a source makes when it is asked to: the request submits it,
// it is asked for until it is there, and then its result is read.
type Report struct {
	ID            *jsonpath.Path
	Poll          Request
	Every         time.Duration
	State         *jsonpath.Path
	Done, Failed  []string
	Result        *jsonpath.Path
	ResultURL     Template // where the definition names the result itself
	MaxWait       time.Duration
	resultIsThere bool // in the answer that says done
}

const (
	maxStates      = 50
	defaultMaxWait = 30 * time.Minute
	longestWait    = 24 * time.Hour
	defaultPolling = 5 * time.Second
	longestPolling = time.Hour
)

// readReport reads how a report is made and fetched.
func readReport(o *object) *Report {
	in := o.object("job")
	if in == nil {
		return nil
	}
	j := &Report{ID: in.path("id", true), Every: in.duration("every", defaultPolling, time.Second, longestPolling), State: in.path("state", true)}
	j.MaxWait = in.duration("maxWait", defaultMaxWait, time.Second, longestWait)
	variables := o.r.variables
	o.r.variables = append(slices.Clone(variables), "job")
	if poll := in.object("poll"); poll != nil {
		j.Poll = readRequest(poll, "GET")
	} else if !in.Has("poll") {
		in.unreadable("poll", strictjson.Required)
	}
	for _, states := range []struct {
		name string
		into *[]string
	}{{"done", &j.Done}, {"failed", &j.Failed}} {
		for _, f := range in.elements(states.name, maxStates) {
			if text, ok := find.Scalar(f.Value); ok {
				*states.into = append(*states.into, text)
			} else {
				f.Fault("Must be a string, a number or a boolean.")
			}
		}
	}
	if len(j.Done) == 0 {
		in.Fault("done", "List the states in which the result is ready.")
	}
	if text, ok := in.text("result"); ok && strings.HasPrefix(text, "http") {
		if j.ResultURL = in.parse("result", text); len(text) > maxURL {
			in.Fault("result", fmt.Sprintf("A URL can have at most %d bytes.", maxURL))
		}
	} else if ok {
		j.Result = in.path("result", true)
	} else {
		j.resultIsThere = true
	}
	o.r.variables = variables
	in.RefuseUnknown()
	return j
}
