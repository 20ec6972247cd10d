package record

import "github.com/feedmill/feedmill"

// WorkspaceColumns are the columns of Workspace.
const WorkspaceColumns = `id, name, created_at, external_id, metadata, quotas, last_request_at`

// Workspace lists the fields of a workspace, without those of its deletion.
func Workspace(w *feedmill.Workspace, k Kinds) []any {
	return []any{&w.ID, &w.Name, k.Time(&w.CreatedAt), &w.ExternalID, &w.Metadata, JSON(&w.Quotas), k.Time(&w.LastRequestAt)}
}

// KeyColumns are the columns of Key.
const KeyColumns = `id, workspace_id, name, scopes, hash, created_at, last_used_at, expires_at, revoked_at`

// Key lists the fields of a key.
func Key(key *feedmill.Key, k Kinds) []any {
	return []any{
		&key.ID, &key.Workspace, &key.Name,
		scopes{&key.Scopes},
		keyHash{&key.Hash},
		k.Time(&key.CreatedAt), k.Time(&key.LastUsedAt), k.Time(&key.ExpiresAt), k.Time(&key.RevokedAt),
	}
}

// Subscription lists the fields of a subscription. Its columns have other names
// in each engine.
func Subscription(s *feedmill.Subscription, k Kinds) []any {
	d, to := &s.Delivery, &s.Destination
	return []any{
		&s.ID, &s.Workspace, &s.Name, &to.URL, k.Words(&s.Events), &to.Method, &s.ResourceID, &s.State, &s.DisabledReason,
		k.Duration(&d.Timeout), &d.RateLimit, k.Duration(&d.RatePer), &d.Concurrency, &d.Ordered, &s.Secrets, &to.Config, k.Words(&to.ConfigNames),
		k.Time(&s.CreatedAt), k.Time(&s.UpdatedAt), k.Time(&s.DeletedAt), k.Time(&s.LastSuccessAt), k.Time(&s.WarnedAt), k.Time(&s.ListenUntil),
		waits{&d.Retries},
		k.Duration(&d.DisableAfter), k.Time(&s.FailingSince), &s.Failures, &to.Kind,
		&s.Filter, &s.FilterKey, &s.Shape.Transform, &s.Shape.Preset, &to.Shown,
		&s.PausedReason, k.Time(&s.ConsentedAt), k.Time(&s.ConfirmBy), k.Time(&s.ConfirmDueAt), &s.AlertID,
		&d.Batch.MaxEvents, k.Duration(&d.Batch.MaxWait),
	}
}

// KeepSubscription puts back what a change of a subscription may not change.
func KeepSubscription(s *feedmill.Subscription, was feedmill.Subscription) {
	s.ID, s.Workspace, s.CreatedAt, s.DeletedAt = was.ID, was.Workspace, was.CreatedAt, was.DeletedAt
}

// EventColumns are the columns of Event.
const EventColumns = `id, workspace_id, publisher_id, type, happened_at, resource_id, source_id, payload`

// Event lists the fields of an event.
func Event(e *feedmill.Event, k Kinds) []any {
	return []any{&e.ID, &e.Workspace, &e.PublisherID, &e.Type, k.Time(&e.Timestamp), &e.ResourceID, &e.Source, &e.Payload}
}

// SourceColumns are the columns of Source, and SourceChanging those of
// ChangingSource.
const (
	SourceColumns  = `workspace_id, id, type, created_at, ` + SourceChanging
	SourceChanging = `host, due_at, run, leased_until, leased_by, schedule, spec, secrets, updated_at, rules`
)

// Source lists the fields of a source.
func Source(s *feedmill.Source, k Kinds) []any {
	return append([]any{&s.Workspace, &s.ID, &s.Type, k.Time(&s.CreatedAt)}, ChangingSource(s, k)...)
}

// ChangingSource lists those of the fields that are written again with a change.
func ChangingSource(s *feedmill.Source, k Kinds) []any {
	return []any{&s.Host, k.Time(&s.DueAt), &s.Run, k.Time(&s.LeasedUntil), &s.LeasedBy, schedule{&s.Schedule}, &s.Spec, &s.Secrets, k.Time(&s.UpdatedAt), &s.Rules}
}

// ConnectionColumns are the columns of Connection, and ConnectionChanging those of
// ChangingConnection.
const (
	ConnectionColumns  = `workspace_id, id, connector, created_at, ` + ConnectionChanging
	ConnectionChanging = `service_name, config, secrets, updated_at`
)

// Connection lists the fields of a connection.
func Connection(c *feedmill.Connection, k Kinds) []any {
	return append([]any{&c.Workspace, &c.ID, &c.Connector, k.Time(&c.CreatedAt)}, ChangingConnection(c, k)...)
}

// ChangingConnection lists those of the fields that are written again with a
// change.
func ChangingConnection(c *feedmill.Connection, k Kinds) []any {
	return []any{&c.ServiceName, &c.Config, &c.Secrets, k.Time(&c.UpdatedAt)}
}

// DueSourceColumns are the columns of DueSource.
const DueSourceColumns = `workspace_id, id, host, due_at`

// DueSource lists the fields of a source that is due.
func DueSource(s *feedmill.DueSource, k Kinds) []any {
	return []any{&s.Workspace, &s.ID, &s.Host, k.Time(&s.DueAt)}
}

// AuditColumns are the columns of AuditEntry.
const AuditColumns = `workspace_id, id, at, actor_key, actor_subject, actor_name, action, resource, fields, address, request_id`

// AuditEntry lists the fields of an entry of the audit log.
func AuditEntry(e *feedmill.AuditEntry, k Kinds) []any {
	return []any{
		&e.Workspace, &e.ID, k.Time(&e.At), &e.Actor.Key, &e.Actor.Subject, &e.Actor.Name, &e.Action, &e.Resource,
		JSON(&e.Fields),
		&e.Address, &e.RequestID,
	}
}
