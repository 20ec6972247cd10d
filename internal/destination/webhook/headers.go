package webhook

import (
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// headerChange is what a request wants of the extra headers: to be without
// those there are, and then to set some (or, where the value is nil, to be
// without them).
type headerChange struct {
	clear bool
	set   map[string]*string
}

// ownHeaders are those that every delivery has by itself, or that HTTP itself
// works with; with a dash at the end, all that begin so.
var ownHeaders = []string{
	"host", "content-length", "content-type", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
	"user-agent", "webhook-", "x-service-", "proxy-",
}

func isOwnHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(ownHeaders, func(own string) bool {
		return name == own || (strings.HasSuffix(own, "-") && strings.HasPrefix(name, own))
	})
}

// readHeaders reads extra headers. Names are kept in their canonical form. It returns nil
// if the request does not contain them.
func readHeaders(r feedmill.DestinationRequest) *headerChange {
	if r.ResetDelivery {
		return &headerChange{clear: true}
	}
	if r.Delivery == nil {
		return nil
	}
	v, ok := r.Delivery.Get("headers")
	if !ok {
		return nil
	}
	if v.Kind == 'n' {
		return &headerChange{clear: true}
	}
	headers, ok := v.Object()
	if !ok {
		return nil
	}
	change := &headerChange{set: make(map[string]*string)}
	for name, f := range headers.All() {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		_, twice := change.set[canonical]
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			f.Fault("The header name is not valid.")
		case isOwnHeader(name):
			f.Fault("The header is reserved for the delivery itself and cannot be set.")
		case twice:
			f.Fault("The header is set more than once. Header names are not case-sensitive.")
		case f.Kind == 'n':
			change.set[canonical] = nil
		default:
			text, ok := f.Text()
			if ok && !httpguts.ValidHeaderFieldValue(text) {
				f.Fault("The header value must not contain line breaks or other control characters.")
			}
			change.set[canonical] = &text
		}
	}
	return change
}

// apply makes the change to the headers that there are. Faults have their places
// within delivery.headers.
func (h headerChange) apply(old map[string]string, faults *feedmill.Faults) map[string]string {
	changed := maps.Clone(old)
	if h.clear || changed == nil {
		changed = make(map[string]string)
	}
	const at = "/delivery/headers"
	for _, name := range slices.Sorted(maps.Keys(h.set)) {
		value := h.set[name]
		_, there := changed[name]
		switch {
		case value == nil:
			delete(changed, name)
		case *value != feedmill.Hidden:
			changed[name] = *value
		case !there:
			faults.Note(at+"/"+strictjson.EscapePointer(name), "The header has no stored value to keep. Set its value.")
		}
	}
	size := 0
	for name, value := range changed {
		size += len(name) + len(value)
	}
	if len(changed) > feedmill.MaxExtraHeaders || size > feedmill.MaxExtraHeaderBytes {
		faults.Note(at, fmt.Sprintf("headers must have at most %d entries, with at most %d bytes of names and values in total.", feedmill.MaxExtraHeaders, feedmill.MaxExtraHeaderBytes))
	}
	return changed
}
