package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/suggest"
)

// call is one request on its way through the server.
type call struct {
	r *http.Request
	// context is of the work on the request. It is not in r, of which it would need a
	// copy for each thing that it gets to know.
	context   context.Context
	requestID string
	who       feedmill.Principal
	query     map[string]string
	// repeated has the values of the parameters that may be given several times.
	repeated   map[string][]string
	faults     feedmill.Faults
	idempotent *idempotentCall
	// audited is what the audit log will say of the change, nil where the
	// operation makes none.
	audited *feedmill.AuditEntry
	// work ends the work on a long request that takes too long.
	work *time.Timer
	// accepts are the media types of the body where what the operation takes
	// depends on the request.
	accepts string
	// shares are the places that there are, giveBack gives up those which the call
	// has taken, and maxBody is how large its body may be.
	shares   *shares
	giveBack func()
	// endQuery ends what takeQuery counts, once the response is sent; nil without a query.
	endQuery func()
	maxBody  int64
	// copyTo, where it is set, gets what is read of the data of an upload.
	// copyDone says that all of it was, and held is what is held of the call: what it sent,
	// or the body that it named.
	copyTo   io.Writer
	copyDone bool
	held     feedmill.HeldBody
	// challenge says more of a credential that does not do than [challenge].
	challenge string
	// inside says that the answer is a part of a file without its end.
	inside bool
}

func (c *call) ctx() context.Context { return c.context }

// fault notes a place where the request is wrong.
func (c *call) fault(f feedmill.Fault) { c.faults.Add(f) }

// malformed ends the reading of a body; what was found before is listed too.
func (c *call) malformed(pointer, detail string) error {
	c.faults.Note(pointer, detail)
	return c.refusal()
}

// refusal is nil, or the error that lists every fault noted so far.
func (c *call) refusal() error { return c.faults.Refusal() }

// answer is what a handler gives back.
type answer struct {
	status      int
	header      [][2]string
	contentType string
	body        []byte
	// stream, where not nil, writes the body for as long as it likes. The time
	// for the work on a request does not bound it.
	stream func(ctx context.Context, w http.ResponseWriter)
	// cause is an error that only the log may see.
	cause error
}

// withSecret is an answer that nobody on the way may keep.
func (a answer) withSecret() answer {
	a.set("Cache-Control", "no-store")
	return a
}

func (a *answer) set(key, value string) { a.header = append(a.header, [2]string{key, value}) }

func (a answer) write(w http.ResponseWriter) {
	h := w.Header()
	for _, kv := range a.header {
		if kv[0] == "Vary" {
			h.Add(kv[0], kv[1])
			continue
		}
		h.Set(kv[0], kv[1])
	}
	if a.contentType != "" {
		h.Set("Content-Type", a.contentType)
	}
	if a.status != http.StatusNoContent && a.stream == nil {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	if len(a.body) > 0 {
		w.Write(a.body)
	}
}

// jsonAnswer renders v as the body. What is no UTF-8 in its texts is replaced.
func jsonAnswer(status int, v any) answer {
	body, err := render(v)
	if err != nil {
		panic(fmt.Errorf("rendering a response: %w", err))
	}
	return answer{status: status, contentType: "application/json", body: body}
}

// asAPI is how the API writes what clients read: times as [timestamp] does.
var asAPI = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true),
	json.WithMarshalers(json.MarshalFunc(func(t time.Time) ([]byte, error) { return timestamp(t).MarshalJSON() })))

// render writes a record, of the types of package client or of this one.
func render(v any) ([]byte, error) { return json.Marshal(v, asAPI) }

// resource is the envelope of a single record.
type resource struct {
	Meta resourceMeta `json:"meta"`
	Data any          `json:"data"`
}

type resourceMeta struct {
	URL string `json:"url,omitzero"` // a preview has none: it is not stored
}

// created is the answer to a request that made the record at url.
func created(url string, data any) answer {
	a := jsonAnswer(http.StatusCreated, resource{resourceMeta{url}, data})
	a.set("Location", url)
	return a
}

// timestamp is a time as the API writes it: RFC 3339 in UTC with milliseconds,
// null where there is none.
type timestamp time.Time

// IsZero reports whether there is no time, for fields that are then left out.
func (t timestamp) IsZero() bool { return time.Time(t).IsZero() }

// MarshalJSON implements the encoding.
func (t timestamp) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return time.Time(t).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}

// now is the present as records keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// perform takes a call through everything that holds for every operation.
func (s *Server) perform(c *call, w http.ResponseWriter, rt route) (answer, error) {
	if rt.path == "" { // there is no operation, so nothing holds for it
		return rt.handle(c)
	}
	if rt.scope != "" {
		if err := s.admit(c, w, rt); err != nil {
			return answer{}, err
		}
	}
	if rt.queries {
		if err := c.takeQuery(&s.shares); err != nil {
			return answer{}, err
		}
	}
	c.audit(rt)
	if err := s.readHandle(c, rt.action); err != nil {
		return answer{}, err
	}
	c.readQuery(rt)
	if rt.body == 0 && len(rt.query) == 0 && !rt.repeatable() { // else the handler goes on to look for faults
		if err := c.refusal(); err != nil {
			return answer{}, err
		}
	}
	c.shares, c.maxBody = &s.shares, max(rt.body, smallBody)
	if rt.scope == "" { // of a stranger no more is read than the operation needs
		c.maxBody = rt.body
	}
	c.r.Body = http.MaxBytesReader(w, c.r.Body, c.maxBody)
	if key := c.r.Header.Values("Idempotency-Key"); len(key) > 0 && rt.repeatable() && rt.scope != "" {
		return s.runIdempotent(c, key, rt)
	}
	return rt.handle(c)
}

// challenge is how a client is asked for a credential (RFC 6750, section 3).
const challenge = `Bearer realm="feedmill"`

// admit checks the credential, its scope and its rate limit.
func (s *Server) admit(c *call, w http.ResponseWriter, rt route) (err error) {
	scope := rt.scope
	c.who, err = s.authenticate(c.ctx(), c.r)
	if errors.Is(err, feedmill.ErrUnauthenticated) && hasToken(c.r.Header.Values("Authorization")) {
		c.challenge = challenge + `, error="invalid_token"`
	}
	if err != nil {
		return err
	}
	if scope != anyScope && !c.who.Has(scope) {
		c.challenge = fmt.Sprintf(`%s, error="insufficient_scope", scope="%s"`, challenge, scope)
		return &feedmill.Error{Kind: feedmill.ErrForbidden, Type: "missing-scope", Detail: fmt.Sprintf("The operation requires a credential with the scope %q.", scope)}
	}
	if err := checkPortal(c.who.Portal, rt); err != nil {
		return err
	}
	known(c.ctx())
	c.context = feedmill.WithTrigger(share.For(c.ctx(), string(c.who.Workspace)), c.who.Subject)
	return s.limits.count(c.ctx(), c.who.Subject, w.Header())
}

// hasToken reports whether a bearer token was sent. A client that sent none has
// made no mistake that a challenge could name.
func hasToken(authorization []string) bool {
	if len(authorization) == 0 {
		return false
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	return strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != ""
}

// readQuery notes parameters that the operation does not take, those that are
// given more than once, and values that no store can look for.
func (c *call) readQuery(rt route) {
	if c.r.URL.RawQuery == "" {
		return
	}
	if rt.iceberg {
		c.query = make(map[string]string)
		for name, values := range c.r.URL.Query() {
			c.query[name] = values[0]
		}
		return
	}
	values, err := parseQuery(c.r.URL.RawQuery)
	if err != nil {
		c.fault(feedmill.Fault{Parameter: "?", Detail: "The query string is not valid. Percent-encode its special characters."})
		return
	}
	c.query, c.repeated = make(map[string]string, len(values)), make(map[string][]string)
	for _, kv := range values {
		name := kv[0]
		_, repeated := c.query[name]
		switch {
		case !slices.Contains(rt.query, name):
			detail := "Unknown parameter."
			if near := suggest.Nearest(name, rt.query); len(near) > 0 {
				detail += " Did you mean " + near[0] + "?"
			}
			c.fault(feedmill.Fault{Parameter: name, Detail: detail})
		case repeated && !slices.Contains(rt.repeats, name):
			c.fault(feedmill.Fault{Parameter: name, Detail: name + " is set more than once. Set it only once."})
		case !utf8.ValidString(kv[1]) || strings.ContainsRune(kv[1], 0):
			c.fault(feedmill.Fault{Parameter: name, Detail: name + " must be percent-encoded UTF-8 without the character U+0000."})
			continue
		}
		c.query[name] = kv[1]
		if slices.Contains(rt.repeats, name) {
			c.repeated[name] = append(c.repeated[name], kv[1])
		}
	}
}

// isAborted reports whether the client went away before it had sent its request.
func isAborted(err error) bool {
	return errors.Is(err, errAborted) || errors.Is(err, context.Canceled)
}
