package api

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// AuditStore has the audit log.
type AuditStore interface {
	Audit(ctx context.Context, workspace feedmill.ID, q feedmill.AuditQuery) ([]feedmill.AuditEntry, error)
}

// audit has what the call changes be noted in the audit log: by the store, with
// the change itself.
func (c *call) audit(rt route) {
	if rt.action == "" {
		return
	}
	c.audited = &feedmill.AuditEntry{
		Workspace: c.who.Workspace, At: now(), Actor: c.who.Actor(), Action: rt.action,
		Resource: feedmill.ID(c.r.PathValue(lastParameter(rt.path))), Address: address(c.r), RequestID: c.requestID,
	}
	c.context = feedmill.WithAudit(c.ctx(), c.audited)
}

// lastParameter is the name of the last parameter of a path, which is what the
// operation works on.
func lastParameter(path string) string {
	name := path[strings.LastIndexByte(path, '{')+1:]
	name, _, _ = strings.Cut(name, "}")
	return name
}

// address is where a request came from, as far as the connection says.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// noteFields notes what a PATCH is to change.
func (c *call) noteFields(body strictjson.Value) {
	if c.audited == nil || c.r.Method != http.MethodPatch {
		return
	}
	for _, m := range body.Members {
		c.audited.Fields = append(c.audited.Fields, m.Name)
	}
}

func viewAudit(e feedmill.AuditEntry) client.AuditEntry {
	if e.Fields == nil {
		e.Fields = []string{}
	}
	return client.AuditEntry{
		ID: string(e.ID), At: e.At, Actor: client.Actor{Key: string(e.Actor.Key), Subject: e.Actor.Subject, Name: e.Actor.Name}, Action: e.Action,
		Resource: string(e.Resource), Fields: e.Fields, Address: e.Address, RequestID: e.RequestID,
	}
}

func (s *Server) listAudit(c *call) (answer, error) {
	q := feedmill.AuditQuery{Actor: c.query["actor"], Action: c.query["action"], Resource: c.query["resource"], Since: c.timeParameter("since")}
	fetch := func(p feedmill.Page) ([]feedmill.AuditEntry, error) {
		workspace, err := s.listedWorkspace(c)
		if err != nil {
			return nil, err
		}
		q.Page = p
		return s.Store.Audit(c.ctx(), workspace, q)
	}
	return listAnswer(c, feedmill.PrefixAudit, fetch, func(e feedmill.AuditEntry) feedmill.ID { return e.ID }, viewAudit)
}
