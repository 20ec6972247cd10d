package api

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Bounds of quotas. A number of bytes stays exact in JavaScript.
const (
	maxStoredQuota       = 1<<53 - 1
	maxSubscriptionQuota = 1_000_000
)

// readWorkspace reads the members of a workspace that a request sets, and returns what sets
// them. Members that are missing stay as they are.
func readWorkspace(body *strictjson.Object) (set func(*feedmill.Workspace)) {
	var changes []func(*feedmill.Workspace)
	if f, ok := body.Get("externalId"); ok {
		id := ""
		if f.Kind != 'n' {
			id, _ = f.Label(feedmill.MaxNameLen)
		}
		changes = append(changes, func(w *feedmill.Workspace) { w.ExternalID = id })
	}
	if f, ok := body.Get("metadata"); ok {
		text := ""
		if _, isObject := f.Object(); isObject {
			text = string(f.Append(nil))
		}
		if len(text) > feedmill.MaxMetadata {
			f.Fault(fmt.Sprintf("metadata must have at most %d bytes; it has %d.", feedmill.MaxMetadata, len(text)))
		}
		changes = append(changes, func(w *feedmill.Workspace) { w.Metadata = text })
	}
	if f, ok := body.Get("quotas"); ok {
		if quotas, isObject := f.Object(); isObject {
			changes = append(changes, readQuotas(quotas))
		}
	}
	return func(w *feedmill.Workspace) {
		for _, change := range changes {
			change(w)
		}
	}
}

// readQuotas reads the quotas that a request sets. Null is the server's default.
func readQuotas(quotas *strictjson.Object) func(*feedmill.Workspace) {
	read := func(name string, most int) (n *int, given bool) {
		f, given := quotas.Get(name)
		if given && f.Kind != 'n' {
			n = new(int)
			*n, _ = f.Integer(0, most)
		}
		return n, given
	}
	stored, storedGiven := read("storedBytes", maxStoredQuota)
	subscriptions, subscriptionsGiven := read("subscriptions", maxSubscriptionQuota)
	uploads, uploadsGiven := read("concurrentUploads", feedmill.MaxConcurrentUploads)
	queries, queriesGiven := read("concurrentQueries", feedmill.MaxConcurrentQueries)
	quotas.RefuseUnknown()
	return func(w *feedmill.Workspace) {
		if storedGiven {
			w.Quotas.StoredBytes = nil
			if stored != nil {
				w.Quotas.StoredBytes = new(int64(*stored))
			}
		}
		if subscriptionsGiven {
			w.Quotas.Subscriptions = subscriptions
		}
		if uploadsGiven {
			w.Quotas.ConcurrentUploads = uploads
		}
		if queriesGiven {
			w.Quotas.ConcurrentQueries = queries
		}
	}
}
