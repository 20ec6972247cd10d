package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/shape"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// maxReportAnswer is how large a response may be that names the files of a report.
const maxReportAnswer = 16 << 20

// submit has the report made, and returns where its result is.
func (s *sequence) submit(ctx context.Context, first step) (step, error) {
	j := s.spec.Report
	var traced []feedmill.TracedRequest
	// What the source said is shown with an answer that judge refuses, too.
	ask := func(build func(context.Context) (*http.Request, error), path *jsonpath.Path, judge func(found find.Value, data []byte, from *url.URL) error) error {
		e := exchange{
			run: s.run, timeout: s.spec.Request.Timeout, signed: true, traced: &traced, limit: maxReportAnswer, build: build,
			receive: func(response *http.Response, body io.Reader) (o outcome) {
				data, err := io.ReadAll(body)
				status := response.StatusCode
				switch {
				case status < 200 || status > 299:
					o = refusedBy(status, response.Header)
				case err != nil:
					o = s.readFailed(err)
				default:
					if found, err := find.Values(ctx, bytes.NewReader(data), int64(len(data)), path); err != nil {
						o.err, o.retry = spec.Fail("job", nil, "The response to the job is not JSON."), true
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
	err := ask(func(ctx context.Context) (*http.Request, error) { return s.build(ctx, first) }, j.ID, func(found find.Value, _ []byte, _ *url.URL) error {
		if id, _ = found.Text(); id == "" {
			return spec.Fail("job", nil, "The response of the source has no job id at %s.", j.ID)
		}
		return nil
	})
	if err != nil {
		return first, err
	}
	m := s.at.With("job.id", id)
	for until := time.Now().Add(j.MaxWait); ; {
		var files []*url.URL
		err := ask(func(ctx context.Context) (*http.Request, error) {
			ctx, m := s.stamped(ctx, m)
			return s.plain(ctx, &j.Poll, m)
		}, j.State, func(found find.Value, data []byte, from *url.URL) (err error) {
			state, _ := found.Text()
			switch {
			case slices.Contains(j.Failed, state):
				return spec.Fail("job", nil, "The source reports that the job failed; its state is %q.", spec.Shorten(state))
			case slices.Contains(j.Done, state):
				files, err = s.filesOf(ctx, m, data, from)
			case !time.Now().Add(j.Every).Before(until):
				err = spec.Fail("job", nil, "The job did not finish within %s; its state is %q.", feedmill.FormatDuration(j.MaxWait), spec.Shorten(state))
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
		if err := sleep(ctx, j.Every); err != nil {
			return first, err
		}
	}
}

// filesOf are the addresses of the result of a report, of which the answer that says that
// it is done can name several.
func (s *sequence) filesOf(ctx context.Context, m spec.Moment, data []byte, from *url.URL) (files []*url.URL, err error) {
	j := s.spec.Report
	texts := []string{from.String()}
	switch {
	case j.Result != nil:
		texts = nil
		spool := input.NewSpool(filepath.Dir(s.lane.file.Name()))
		defer func() { err = errors.Join(err, spool.Close()) }()
		page := feedmill.FetchedPage{Format: "json", Body: io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))}
		err := shape.EachRecord(ctx, page, j.Result.String(), spool, func(raw []byte) error {
			if text, ok := find.Scalar(find.ValueOf(raw)); ok && text != "" {
				texts = append(texts, text)
			}
			return nil
		})
		if err != nil || len(texts) == 0 {
			return nil, spec.Fail("job", err, "The job finished, but the response has no result URL at %s.", j.Result)
		}
	case j.ResultURL.Text != "":
		m = m.Within(spec.MaxAddress)
		texts[0] = j.ResultURL.Expand(m, spec.EscapeInURL)
		if err := m.TooLong("the address of the job's result", spec.MaxAddress); err != nil {
			return nil, err
		}
	}
	for _, text := range texts {
		u, err := from.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, spec.Fail("job", nil, "The result URL of the job is not a valid URL.")
		}
		u.User, u.Fragment = nil, ""
		files = append(files, u)
	}
	return files, nil
}

// plain makes a request as it is defined, with the headers of the source's own where
// it has the same origin.
func (s *sequence) plain(ctx context.Context, q *spec.Request, m spec.Moment) (*http.Request, error) {
	target, err := q.Address(m)
	if err != nil {
		return nil, err
	}
	body, contentType, err := q.Payload(m, nil)
	if err != nil {
		return nil, err
	}
	request, err := newRequest(ctx, q.Method, target, body, contentType)
	if err != nil {
		return nil, err
	}
	if spec.SameOrigin(target, s.spec.Request.Origin) {
		if err := s.spec.Request.SetHeaders(request, m); err != nil {
			return nil, err
		}
		if body == "" {
			request.Header.Del("Content-Type")
		}
	}
	if err := q.SetHeaders(request, m); err != nil {
		return nil, err
	}
	s.f.identify(request)
	return request, nil
}
