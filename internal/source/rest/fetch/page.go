package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// step is a page that is to be asked for.
type step struct {
	number int
	url    *url.URL    // of nextUrl and linkHeader, nil for the first page
	token  *find.Value // of cursor, nil for the first page
	count  int64       // of offset and page
	span   string      // of range, the header Range; empty for the first page
	// get says that it is asked for without the body of the request.
	get bool
	// fingerprint says what the first page was asked with.
	fingerprint string
}

// answer is a page that was asked for, or why there is none.
type answer struct {
	step        step
	err         error
	notModified bool
	ignored     bool // a rule passes over it
	header      http.Header
	url         *url.URL // what was asked in the end
	request     *http.Request
	status      int
	body        *io.SectionReader
	start, size int64
	hash        uint64
	// file is the file of an archive that the page is, and more are those behind it.
	file string
	more []pageFile
	// text is the page while it is received, nil where it is too long for that.
	text []byte
	sum  uint32 // where it is staged
	// found is what the paths of the spec lead to, and scanErr why those of the
	// pagination lead nowhere. With unread the document is not JSON, or too long.
	paths   []*jsonpath.Path
	found   []find.Value
	scanErr error
	unread  bool
	scanned bool
	traced  []feedmill.TracedRequest
	// next is the page after this one, nil where there is none, and nextErr
	// why there cannot be one. With last the source says that there is none.
	next    *step
	nextErr error
	last    bool
}

// first is the first page of the fetch.
func (r *sequence) first() (step, error) {
	s := step{number: 1, count: r.spec.Pagination.Start}
	request, err := r.build(context.Background(), s)
	if err != nil {
		return s, err
	}
	hash := sha256.New()
	_, _ = fmt.Fprintln(hash, request.Method, r.mask.URL(request.URL))
	for _, name := range slices.Sorted(maps.Keys(request.Header)) {
		_, _ = fmt.Fprintln(hash, name, r.mask.Text(fmt.Sprint(request.Header[name])))
	}
	s.fingerprint = hex.EncodeToString(hash.Sum(nil)[:16])
	r.seen.step(request.URL.String())
	return s, nil
}

// get asks for a page until it is there or cannot be had.
func (r *sequence) get(ctx context.Context, s step) *answer {
	a := &answer{step: s}
	e := exchange{
		run: r.run, page: s.number, timeout: r.spec.Request.Timeout, signed: true, traced: &a.traced,
		build:   func(ctx context.Context) (*http.Request, error) { return r.build(ctx, s) },
		receive: func(response *http.Response, body io.Reader) outcome { return r.receive(a, response, body) },
		limit:   r.spec.Pagination.MaxBytes - r.spent.Load(),
	}
	a.err = e.do(ctx)
	return a
}

// maxErrorBody is how much is read of an answer that is an error.
const maxErrorBody = 1 << 20

// receive reads the answer to the request of a page.
func (r *sequence) receive(a *answer, response *http.Response, body io.Reader) outcome {
	a.header, a.url, a.size = response.Header, response.Request.URL, 0
	a.request, a.status, a.body, a.ignored = response.Request, response.StatusCode, nil, false
	a.file, a.more = "", nil
	if r.isUnchanged(a) {
		return outcome{}
	}
	buffer := pageBuffers.Get().(*[pageBuffer]byte)
	defer func() {
		a.text = nil
		pageBuffers.Put(buffer)
	}()
	a.scanned = false
	o, doc := r.readBody(a, body, buffer[:])
	if o.err != nil {
		return o
	}
	if !a.scanned {
		r.scan(response.Request.Context(), a, doc, doc.Size())
	}
	rule, matched := r.ruleFor(a.status, a, doc)
	switch {
	case matched:
		return r.applyRule(rule, a, o)
	case a.isGood():
		end := a.start + a.size
		if n := len(a.more); n > 0 {
			end = a.more[n-1].start + a.more[n-1].size
		}
		r.spent.Add(end - r.lane.end)
		r.lane.end = end
		r.taken.Add(1)
		return o
	}
	if a.status == http.StatusRequestedRangeNotSatisfiable && a.step.span != "" {
		// There is nothing at the range, so the page before was the last.
		a.header = response.Header.Clone()
		a.header.Del("Next-Range")
		a.header.Del("Content-Range")
		r.taken.Add(1)
		return outcome{bytes: o.bytes}
	}
	failed := refusedBy(a.status, response.Header)
	failed.bytes, failed.head = o.bytes, o.head
	return failed
}

func (a *answer) isGood() bool { return a.status >= 200 && a.status < 300 }

// isUnchanged reports whether the source has nothing new, as a request with a condition asked.
func (r *sequence) isUnchanged(a *answer) bool {
	switch asked := a.request.Header; {
	case a.status != http.StatusNotModified:
		return false
	case r.spec.Incremental.Conditional():
		r.taken.Add(1)
		return true
	default:
		a.notModified = asked.Get("If-None-Match") != "" || asked.Get(spec.IfModifiedSince) != ""
		return a.notModified
	}
}

// sizedReader is a document of a known size.
type sizedReader interface {
	io.ReaderAt
	Size() int64
}

// readBody spools a page, or reads the beginning of an error.
func (r *sequence) readBody(a *answer, body io.Reader, buffer []byte) (o outcome, doc sizedReader) {
	if !a.isGood() {
		data, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
		return outcome{bytes: int64(len(data)), head: inUTF8(data, a.header)}, bytes.NewReader(data)
	}
	o = r.spool(a, body, buffer)
	for _, step := range []func(*answer, outcome) outcome{r.unwrap, r.recode, r.requireComplete} {
		if o.err != nil {
			break
		}
		o = step(a, o)
	}
	if o.err != nil {
		o.head = r.spooled(r.lane.end, o.bytes)
	}
	return o, a.body
}

// applyRule does with a response what a rule of the definition says.
func (r *sequence) applyRule(rule spec.Rule, a *answer, o outcome) outcome {
	if rule.Action == spec.ActionIgnore {
		// What it says of the next page stays.
		a.size, a.ignored = 0, true
		r.ignored.Add(1)
		return o
	}
	o.err = spec.Fail("source-error", nil, "The source returned %s%s, which a rule in errors treats as an error.", statusText(a.status), r.said(rule, a))
	if rule.Path == spec.GraphQLErrors {
		o.err = spec.Fail("source-error", nil, "The response of GraphQL has errors%s. Fix the query or its variables.", r.said(rule, a))
	}
	o.retry = rule.Action == spec.ActionRetry
	o.after, _ = retryAfter(a.status, a.header)
	if a.isGood() {
		o.head = r.spooled(r.lane.end, o.bytes)
	}
	return o
}

// pageBuffers are what pages are copied through, and in which most of them are whole.
var pageBuffers = sync.Pool{New: func() any { return new([pageBuffer]byte) }}

const pageBuffer = 256 << 10

// hashSeed makes hashes of pages that are compared within one fetch.
var hashSeed = maphash.MakeSeed()

// spool copies the body of a page to the end of the spool, as much at once as the buffer holds.
func (r *sequence) spool(a *answer, body io.Reader, buffer []byte) (o outcome) {
	var sum uint32
	var hash maphash.Hash
	hash.SetSeed(hashSeed)
	a.text = nil
	for {
		n, err := fill(body, buffer)
		if n > 0 {
			_, _ = hash.Write(buffer[:n])
			if r.stage != nil {
				sum = crc32.Update(sum, crc32.IEEETable, buffer[:n])
			}
			if r.job.Take != nil {
				if err := r.job.Take(int64(n)); err != nil {
					o.err = fmt.Errorf("spool a page: %w", err)
					return o
				}
			}
			if _, err := r.lane.file.WriteAt(buffer[:n], r.lane.end+o.bytes); err != nil {
				o.err = fmt.Errorf("spool a page: %w", err)
				return o
			}
			o.bytes += int64(n)
		}
		if err == io.EOF {
			if o.bytes == int64(n) {
				a.text = buffer[:n]
			}
			break
		}
		if err != nil {
			failed := r.readFailed(err)
			failed.bytes = o.bytes
			return failed
		}
	}
	a.start, a.size, a.hash, a.sum = r.lane.end, o.bytes, hash.Sum64(), sum
	a.body = io.NewSectionReader(r.lane.file, r.lane.end, a.size)
	return o
}

// fill reads until the buffer is full or there is no more, which the error says.
func fill(body io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = body.Read(buffer[n:])
		n += more
	}
	return n, err
}

// scan looks for what the paths of the spec lead to.
func (r *run) scan(ctx context.Context, a *answer, doc io.ReaderAt, size int64) {
	a.paths, a.found, a.scanErr, a.unread = r.spec.Paths, nil, nil, false
	if len(a.paths) == 0 || size == 0 {
		return
	}
	found, err := find.Values(ctx, doc, size, a.paths...)
	r.scanned(a, found, err)
}

// scanned has an answer know what was found in it.
func (r *run) scanned(a *answer, found []find.Value, err error) {
	a.found, a.unread = found, err != nil
	if r.spec.Pagination.LooksInside() {
		a.scanErr = err
	}
}

// ruleFor is the first rule that an answer falls under. That a value is not there can be
// said of a JSON document that was read, and of nothing else.
func (r *run) ruleFor(status int, a *answer, doc io.ReaderAt) (spec.Rule, bool) {
	for _, rule := range r.spec.Rules {
		matches := len(rule.Status) == 0 || slices.Contains(rule.Status, status)
		if matches && rule.Path != nil {
			v := a.at(rule.Path)
			matches = rule.Test.Matches(&v) && (v.Kind != 0 || !a.unread && spec.IsDocument(doc))
		}
		if matches {
			return rule, true
		}
	}
	return spec.Rule{}, false
}

// said is what an answer says of its error, as far as a rule looks at it.
func (r *run) said(looked spec.Rule, a *answer) string {
	path := looked.Path
	if looked.Says != nil {
		path = looked.Says
	}
	v := a.at(path)
	if text, ok := v.Text(); ok && path != nil {
		return " and said " + strconv.Quote(spec.Shorten(text))
	}
	return ""
}

// wantJSON refuses a page in which the next one cannot be found.
func (a *answer) wantJSON(format string) error {
	if a.scanErr != nil && format != "json" {
		return spec.Fail("pagination", nil, "The pages are %s, in which a path cannot find the next page. Use linkHeader, offset or page.", format)
	}
	return nil
}

// followRange finds the range that comes after that of a.
func (r *sequence) followRange(a *answer, next *step) (*step, error) {
	span, bytes := nextRange(a.header)
	switch {
	case bytes:
		return nil, spec.Fail("pagination", nil, "Page %d is a part of a file (Content-Range: bytes), but pagination of the kind range requests parts of a list. Remove pagination.", a.step.number)
	case span == "":
		return nil, nil
	case r.seen.step(span) && !a.last:
		return nil, spec.Fail("pagination-loop", nil, "Page %d leads to a range that was fetched before. The source might not support the Range header.", a.step.number)
	}
	next.span = span
	return next, nil
}

// tokenText is the text of the token on a page, empty where no page follows.
func tokenText(p *spec.Pagination, token find.Value, page int) (string, error) {
	if !token.IsSet() && token.Kind != '0' {
		return "", nil
	}
	text, ok := token.Text()
	switch {
	case p.Kind == spec.PagesURL && token.Kind != '"':
		return "", spec.Fail("pagination", nil, "On page %d the path %s does not lead to a string, so there is no URL.", page, p.Place())
	case !ok && token.Raw == nil:
		return "", spec.Fail("pagination", nil, "On page %d the path %s leads to a token of more than %d bytes.", page, p.Place(), find.MaxToken)
	case !ok:
		text = string(token.Raw)
	}
	return text, nil
}

// follow finds the page that comes after a, for all kinds of pagination but
// offset.
func (r *sequence) follow(a *answer) (*step, error) {
	next := &step{number: a.step.number + 1, get: a.step.get}
	var to string
	switch r.spec.Pagination.Kind {
	case spec.PagesNumber:
		next.count = a.step.count + 1
		return next, nil
	case spec.PagesRange:
		return r.followRange(a, next)
	case spec.PagesLink:
		to = nextLink(a.header.Values("Link"))
	case spec.PagesURL, spec.PagesCursor:
		token := tokenOf(&r.spec.Pagination, a)
		var err error
		if to, err = tokenText(&r.spec.Pagination, token, a.step.number); err != nil {
			return nil, err
		}
		next.token = &token
	}
	if to == "" {
		return nil, nil
	}
	if r.spec.Pagination.Kind != spec.PagesCursor {
		u, err := a.url.Parse(to)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, spec.Fail("pagination", nil, "On page %d the URL of the next page is not valid.", a.step.number)
		}
		u.User, u.Fragment = nil, ""
		next.url, next.token, to = u, nil, u.String()
	}
	if r.seen.step(to) && !a.last {
		return nil, spec.Fail("pagination-loop", nil, "Page %d leads to a page that was already fetched.", a.step.number)
	}
	return next, nil
}
