package api

import (
	"context"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
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

// readHeaders reads extra headers. Names are kept in their canonical form.
func readHeaders(v strictjson.Field) *headerChange {
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
			f.Fault("This is no name of a header.")
		case isOwnHeader(name):
			f.Fault("This header belongs to the delivery itself and cannot be set.")
		case twice:
			f.Fault("This header is named more than once; the case of letters makes no difference.")
		case f.Kind == 'n':
			change.set[canonical] = nil
		default:
			text, ok := f.Text()
			if ok && !httpguts.ValidHeaderFieldValue(text) {
				f.Fault("The value holds characters that a header cannot, such as line breaks.")
			}
			change.set[canonical] = &text
		}
	}
	return change
}

// apply makes the change to the headers that there are. It answers faults with
// their places within delivery.headers.
func (h headerChange) apply(old map[string]string) (changed map[string]string, faults []feedmill.Fault) {
	changed = maps.Clone(old)
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
		case *value != hiddenValue:
			changed[name] = *value
		case !there:
			faults = append(faults, feedmill.Fault{Pointer: at + "/" + strictjson.EscapePointer(name), Detail: "There is no such header whose value could stay; write the value."})
		}
	}
	size := 0
	for name, value := range changed {
		size += len(name) + len(value)
	}
	if len(changed) > feedmill.MaxExtraHeaders || size > feedmill.MaxExtraHeaderBytes {
		faults = append(faults, feedmill.Fault{
			Pointer: at,
			Detail:  fmt.Sprintf("There may be at most %d headers with %d bytes of names and values together.", feedmill.MaxExtraHeaders, feedmill.MaxExtraHeaderBytes),
		})
	}
	return changed, faults
}

func secretsRecord(id feedmill.ID) string { return "sub/" + string(id) + "/secrets" }
func headersRecord(id feedmill.ID) string { return "sub/" + string(id) + "/headers" }

// sealHeaders puts extra headers into a subscription.
func (s *Server) sealHeaders(sub *feedmill.Subscription, headers map[string]string) error {
	sub.Headers, sub.HeaderNames = nil, slices.Sorted(maps.Keys(headers))
	if len(headers) == 0 {
		return nil
	}
	var err error
	sub.Headers, err = s.sealJSON(headers, headersRecord(sub.ID))
	return err
}

// openHeaders answers the extra headers of a subscription.
func (s *Server) openHeaders(ctx context.Context, sub feedmill.Subscription) (headers map[string]string, err error) {
	if len(sub.Headers) == 0 {
		return nil, nil
	}
	err = s.unsealJSON(ctx, sub.Headers, headersRecord(sub.ID), &headers)
	return headers, err
}

func (s *Server) sealJSON(v any, record string) ([]byte, error) {
	plain, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("sealing %s: %w", record, err)
	}
	return s.Vault.Seal(plain, record)
}

func (s *Server) unsealJSON(ctx context.Context, sealed []byte, record string, into any) error {
	plain, err := s.Vault.Unseal(ctx, sealed, record)
	if err != nil {
		return fmt.Errorf("opening %s: %w", record, err)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("reading %s: %w", record, err)
	}
	return nil
}
