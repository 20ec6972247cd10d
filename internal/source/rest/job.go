package rest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// report is data that a source makes when it is asked to: the request submits it,
// it is asked for until it is there, and then its result is read.
type report struct {
	id            *jsonpath.Path
	poll          request
	every         time.Duration
	state         *jsonpath.Path
	done, failed  []string
	result        *jsonpath.Path
	resultURL     template // where the definition names the result itself
	maxWait       time.Duration
	resultIsThere bool // in the answer that says done
}

const (
	maxStates       = 50
	defaultMaxWait  = 30 * time.Minute
	longestWait     = 24 * time.Hour
	defaultPolling  = 5 * time.Second
	longestPolling  = time.Hour
	maxReportAnswer = 16 << 20
)

// readReport reads how a report is made and fetched.
func readReport(o *object) *report {
	in := o.object("job")
	if in == nil {
		return nil
	}
	j := &report{id: in.path("id", true), every: in.duration("every", defaultPolling, time.Second, longestPolling), state: in.path("state", true)}
	j.maxWait = in.duration("maxWait", defaultMaxWait, time.Second, longestWait)
	variables := o.r.variables
	o.r.variables = append(slices.Clone(variables), "job")
	if poll := in.object("poll"); poll != nil {
		j.poll = readRequest(poll, "GET")
	} else if !in.Has("poll") {
		in.Fault("poll", strictjson.Required)
	}
	for _, states := range []struct {
		name string
		into *[]string
	}{{"done", &j.done}, {"failed", &j.failed}} {
		for _, f := range in.elements(states.name, maxStates) {
			if text, ok := scalar(f.Value); ok {
				*states.into = append(*states.into, text)
			} else {
				f.Fault("This must be a text, a number or a boolean.")
			}
		}
	}
	if len(j.done) == 0 {
		in.Fault("done", "Say which states mean that the result is there.")
	}
	if text, ok := in.text("result"); ok && strings.HasPrefix(text, "http") {
		if j.resultURL = in.parse("result", text); len(text) > maxURL {
			in.Fault("result", fmt.Sprintf("A URL has at most %d bytes.", maxURL))
		}
	} else if ok {
		j.result = in.path("result", true)
	} else {
		j.resultIsThere = true
	}
	o.r.variables = variables
	in.RefuseUnknown()
	return j
}

// submit has the report made, and returns where its result is.
func (s *sequence) submit(ctx context.Context, first step) (step, error) {
	j := s.spec.report
	var traced []feedmill.TracedRequest
	ask := func(build func(context.Context) (*http.Request, error), paths ...*jsonpath.Path) (found []value, from *url.URL, err error) {
		e := exchange{
			run: s.run, timeout: s.spec.request.timeout, signed: true, traced: &traced, limit: maxReportAnswer, build: build,
			receive: func(response *http.Response, body io.Reader) (o outcome) {
				data, err := io.ReadAll(body)
				o.bytes, from = int64(len(data)), response.Request.URL
				switch status := response.StatusCode; {
				case status < 200 || status > 299:
					o = refusedBy(status, response.Header)
					o.head = data
				case err != nil:
					o = s.readFailed(err)
				default:
					if found, err = find(ctx, bytes.NewReader(data), int64(len(data)), paths...); err != nil {
						o.err, o.head, o.retry = fail("job", nil, "The answer to the job is no JSON."), data, true
					}
				}
				return o
			},
		}
		err = e.do(ctx)
		return found, from, err
	}
	defer func() { s.trace(&answer{traced: traced, err: errBroken}, 0) }()
	found, _, err := ask(func(ctx context.Context) (*http.Request, error) { return s.build(ctx, first) }, j.id)
	if err != nil {
		return first, err
	}
	id, ok := found[0].text()
	if !ok || id == "" {
		return first, fail("job", nil, "The answer of the source has no id of a job at %s.", j.id)
	}
	m := s.at.with("job.id", id)
	paths := []*jsonpath.Path{j.state}
	if j.result != nil {
		paths = append(paths, j.result)
	}
	for until := time.Now().Add(j.maxWait); ; {
		found, from, err := ask(func(ctx context.Context) (*http.Request, error) { return s.plain(ctx, &j.poll, m) }, paths...)
		if err != nil {
			return first, err
		}
		state, _ := found[0].text()
		switch {
		case slices.Contains(j.failed, state):
			return first, fail("job", nil, "The source says that the job has failed: its state is %q.", shorten(state))
		case slices.Contains(j.done, state):
			return s.resultOf(m, found, from)
		case !time.Now().Add(j.every).Before(until):
			return first, fail("job", nil, "The job was not done within %s; its state is %q.", feedmill.FormatDuration(j.maxWait), shorten(state))
		}
		if err := sleep(ctx, j.every); err != nil {
			return first, err
		}
	}
}

// resultOf is where the result of a report is.
func (s *sequence) resultOf(m moment, found []value, from *url.URL) (step, error) {
	j := s.spec.report
	to := from.String()
	switch {
	case j.result != nil:
		text, ok := found[1].text()
		if !ok || text == "" {
			return step{}, fail("job", nil, "The job is done, and there is no address of its result at %s.", j.result)
		}
		to = text
	case j.resultURL.text != "":
		m = m.within(maxAddress)
		to = j.resultURL.expand(m, escapeInURL)
		if err := m.tooLong("the address of the job's result", maxAddress); err != nil {
			return step{}, err
		}
	}
	u, err := from.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return step{}, fail("job", nil, "The address of the job's result is no URL.")
	}
	u.User, u.Fragment = nil, ""
	return step{number: 1, url: u, get: true}, nil
}

// plain makes a request as it is defined, with the headers of the source's own where
// it has the same origin.
func (s *sequence) plain(ctx context.Context, q *request, m moment) (*http.Request, error) {
	target, err := q.address(m)
	if err != nil {
		return nil, err
	}
	body, contentType, err := q.payload(m, nil)
	if err != nil {
		return nil, err
	}
	request, err := newRequest(ctx, q.method, target, body, contentType)
	if err != nil {
		return nil, err
	}
	if sameOrigin(target, s.spec.request.origin) {
		if err := s.spec.request.setHeaders(request, m); err != nil {
			return nil, err
		}
		if body == "" {
			request.Header.Del("Content-Type")
		}
	}
	if err := q.setHeaders(request, m); err != nil {
		return nil, err
	}
	s.f.identify(request)
	return request, nil
}
