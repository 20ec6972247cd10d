package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
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
	maxStates      = 50
	defaultMaxWait = 30 * time.Minute
	longestWait    = 24 * time.Hour
	defaultPolling = 5 * time.Second
	longestPolling = time.Hour
)

// maxReportAnswer is how large a response may be that names the files of a report.
const maxReportAnswer = 16 << 20

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
		in.unreadable("poll", strictjson.Required)
	}
	for _, states := range []struct {
		name string
		into *[]string
	}{{"done", &j.done}, {"failed", &j.failed}} {
		for _, f := range in.elements(states.name, maxStates) {
			if text, ok := scalar(f.Value); ok {
				*states.into = append(*states.into, text)
			} else {
				f.Fault("Must be a string, a number or a boolean.")
			}
		}
	}
	if len(j.done) == 0 {
		in.Fault("done", "List the states in which the result is ready.")
	}
	if text, ok := in.text("result"); ok && strings.HasPrefix(text, "http") {
		if j.resultURL = in.parse("result", text); len(text) > maxURL {
			in.Fault("result", fmt.Sprintf("A URL can have at most %d bytes.", maxURL))
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
	// What the source said is shown with an answer that judge refuses, too.
	ask := func(build func(context.Context) (*http.Request, error), path *jsonpath.Path, judge func(found value, data []byte, from *url.URL) error) error {
		e := exchange{
			run: s.run, timeout: s.spec.request.timeout, signed: true, traced: &traced, limit: maxReportAnswer, build: build,
			receive: func(response *http.Response, body io.Reader) (o outcome) {
				data, err := io.ReadAll(body)
				status := response.StatusCode
				switch {
				case status < 200 || status > 299:
					o = refusedBy(status, response.Header)
				case err != nil:
					o = s.readFailed(err)
				default:
					if found, err := find(ctx, bytes.NewReader(data), int64(len(data)), path); err != nil {
						o.err, o.retry = fail("job", nil, "The response to the job is not JSON."), true
					} else {
						o.err = judge(found[0], data, response.Request.URL)
					}
				}
				o.bytes, o.head = int64(len(data)), inUTF8(data, response.Header)
				return o
			},
		}
		return e.do(ctx)
	}
	defer func() { s.trace(&answer{traced: traced, err: errBroken}, 0) }()
	var id string
	err := ask(func(ctx context.Context) (*http.Request, error) { return s.build(ctx, first) }, j.id, func(found value, _ []byte, _ *url.URL) error {
		if id, _ = found.text(); id == "" {
			return fail("job", nil, "The response of the source has no job id at %s.", j.id)
		}
		return nil
	})
	if err != nil {
		return first, err
	}
	m := s.at.with("job.id", id)
	for until := time.Now().Add(j.maxWait); ; {
		var files []*url.URL
		err := ask(func(ctx context.Context) (*http.Request, error) {
			ctx, m := s.stamped(ctx, m)
			return s.plain(ctx, &j.poll, m)
		}, j.state, func(found value, data []byte, from *url.URL) (err error) {
			state, _ := found.text()
			switch {
			case slices.Contains(j.failed, state):
				return fail("job", nil, "The source reports that the job failed; its state is %q.", shorten(state))
			case slices.Contains(j.done, state):
				files, err = s.filesOf(ctx, m, data, from)
			case !time.Now().Add(j.every).Before(until):
				err = fail("job", nil, "The job did not finish within %s; its state is %q.", feedmill.FormatDuration(j.maxWait), shorten(state))
			}
			return err
		})
		if err != nil {
			return first, err
		}
		if len(files) > 0 {
			s.files = files[1:]
			return step{number: 1, url: files[0], get: true}, nil
		}
		if err := sleep(ctx, j.every); err != nil {
			return first, err
		}
	}
}

// filesOf are the addresses of the result of a report, of which the answer that says that
// it is done can name several.
func (s *sequence) filesOf(ctx context.Context, m moment, data []byte, from *url.URL) (files []*url.URL, err error) {
	j := s.spec.report
	texts := []string{from.String()}
	switch {
	case j.result != nil:
		texts = nil
		spool := input.NewSpool(filepath.Dir(s.lane.file.Name()))
		defer func() { err = errors.Join(err, spool.Close()) }()
		page := feedmill.FetchedPage{Format: "json", Body: io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))}
		err := eachRecord(ctx, page, j.result.String(), spool, func(raw []byte) error {
			if text, ok := scalar(valueOf(raw)); ok && text != "" {
				texts = append(texts, text)
			}
			return nil
		})
		if err != nil || len(texts) == 0 {
			return nil, fail("job", err, "The job finished, but the response has no result URL at %s.", j.result)
		}
	case j.resultURL.text != "":
		m = m.within(maxAddress)
		texts[0] = j.resultURL.expand(m, escapeInURL)
		if err := m.tooLong("the address of the job's result", maxAddress); err != nil {
			return nil, err
		}
	}
	for _, text := range texts {
		u, err := from.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fail("job", nil, "The result URL of the job is not a valid URL.")
		}
		u.User, u.Fragment = nil, ""
		files = append(files, u)
	}
	return files, nil
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
