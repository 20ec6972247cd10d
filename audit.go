package feedmill

import (
	"context"
	"time"
)

// AuditRetention is how long the audit log is kept.
const AuditRetention = 400 * 24 * time.Hour

// AuditEntry is a line of a workspace's audit log: who changed what, when, and
// from where. It has names and ids and never a value, so no secret is in it.
type AuditEntry struct {
	ID        ID
	Workspace ID
	At        time.Time
	Actor     Actor
	// Action is the kind of thing and what was done to it, such as
	// subscription.update.
	Action   string
	Resource ID
	// Fields are the names of what a change was to change.
	Fields    []string
	Address   string
	RequestID string
}

// Actor is who made a change: a key, or else a subject.
type Actor struct {
	Key     ID
	Subject string
	Name    string
}

// Operator is who works on the stores themselves or, for all others than the
// workspace "default", an admin of that one.
var Operator = Actor{Subject: "operator", Name: "operator"}

// Actor is who the audit log says that the principal is.
func (p Principal) Actor() Actor {
	if IsID(PrefixKey, p.Subject) {
		return Actor{Key: ID(p.Subject), Name: p.Name}
	}
	return Actor{Subject: p.Subject, Name: p.Name}
}

// AuditQuery asks for a part of the audit log of a workspace, newest first.
type AuditQuery struct {
	Page
	// Actor is the key or the subject.
	Actor    string
	Action   string
	Resource string
	Since    time.Time
}

// EntriesFor are the entries of a change of a record of a workspace. Who changes
// something in another workspace leaves one in both logs; the other one learns
// that the operator did it.
func (e AuditEntry) EntriesFor(workspace, record ID) []AuditEntry {
	if e.Resource == "" {
		e.Resource = record
	}
	e.ID = NewID(PrefixAudit)
	if workspace == e.Workspace {
		return []AuditEntry{e}
	}
	other := e
	other.ID, other.Workspace, other.Actor, other.Address, other.RequestID = NewID(PrefixAudit), workspace, Operator, "", ""
	return []AuditEntry{e, other}
}

type auditKey struct{}

// WithAudit makes the change that is made under the context leave an entry in
// the audit log, in the transaction of the change: both are there or neither. It
// travels beside the change because no rule of a change depends on it.
func WithAudit(ctx context.Context, e *AuditEntry) context.Context {
	return context.WithValue(ctx, auditKey{}, e)
}

// WithoutAudit is for what is written under the context of a change and is none.
func WithoutAudit(ctx context.Context) context.Context { return WithAudit(ctx, nil) }

// AuditOf is the entry that a change is to leave, nil where none.
func AuditOf(ctx context.Context) *AuditEntry {
	e, _ := ctx.Value(auditKey{}).(*AuditEntry)
	return e
}
