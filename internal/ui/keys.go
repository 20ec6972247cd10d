package ui

import (
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// keyList is the page of the keys of the workspace, and of the form for another one.
type keyList struct {
	Keys    []client.Key
	Older   string
	Revoked bool
	// Mine is the key of the visitor.
	Mine string
	// Made is shown once.
	Made *client.Key

	Name    string
	Scopes  []scopeChoice
	Expires string
	Faults  map[string]string
}

type scopeChoice struct {
	Name, Words string
	Checked     bool
}

// scopeWords say what scopes are for.
var scopeWords = []scopeChoice{
	{Name: "api:read", Words: "read everything"},
	{Name: "api:write", Words: "change feeds, subscriptions and connections"},
	{Name: "events:publish", Words: "publish events"},
	{Name: "admin", Words: "keys, workspaces and the audit log"},
}

func showKeys(v *visit) error { return (&keyList{}).show(v, http.StatusOK, []string{"api:read"}) }

func (l *keyList) show(v *visit, status int, scopes []string) (err error) {
	l.Revoked, l.Mine = v.r.URL.Query().Get("revoked") != "", v.me.Key
	for _, s := range scopeWords {
		s.Checked = slices.Contains(scopes, s.Name)
		l.Scopes = append(l.Scopes, s)
	}
	l.Keys, l.Older, err = pageOf(v, listedRecords, func() iter.Seq2[client.Key, error] {
		return v.api.KeysOf(v.r.Context(), client.KeyQuery{WorkspaceID: v.me.Workspace.ID, Revoked: l.Revoked})
	})
	if err != nil {
		return err
	}
	return v.render(status, "keys", "Keys", l)
}

func createKey(v *visit) error {
	l := keyList{Name: strings.TrimSpace(v.r.PostFormValue("name")), Expires: v.r.PostFormValue("expires")}
	scopes := v.r.PostForm["scopes"]
	k := client.NewKey{Name: l.Name, Scopes: scopes, WorkspaceID: v.me.Workspace.ID}
	if d, err := feedmill.ParseDuration(l.Expires); err == nil && d > 0 {
		k.ExpiresAt = time.Now().Add(d)
	}
	made, err := v.api.CreateKey(v.r.Context(), k)
	if err != nil {
		faults, ok := faultsOf(err, "name", "scopes", "expiresAt")
		if !ok {
			return err
		}
		l.Faults = faults
		return l.show(v, http.StatusUnprocessableEntity, scopes)
	}
	l = keyList{Made: &made}
	return l.show(v, http.StatusOK, []string{"api:read"})
}

func revokeKey(v *visit, id string) error { return v.api.RevokeKey(v.r.Context(), id) }

func toKeys(string) string { return "/ui/keys" }

// auditPage is who did what.
type auditPage struct {
	Entries []client.AuditEntry
	Older   string
	Want    struct{ Actor, Action, Resource, Since string }
}

func showAudit(v *visit) (err error) {
	q := v.r.URL.Query()
	var p auditPage
	p.Want.Actor, p.Want.Action, p.Want.Resource, p.Want.Since = strings.TrimSpace(q.Get("actor")), strings.TrimSpace(q.Get("action")), strings.TrimSpace(q.Get("resource")), q.Get("since")
	p.Entries, p.Older, err = pageOf(v, listedRecords, func() iter.Seq2[client.AuditEntry, error] {
		return v.api.Audit(v.r.Context(), client.AuditQuery{Actor: p.Want.Actor, Action: p.Want.Action, Resource: p.Want.Resource, Since: sinceOf(p.Want.Since)})
	})
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "audit", "Audit log", p)
}

// pageOfResource is where a resource that was changed is shown; empty where it has no page.
func pageOfResource(id string) string {
	prefix, _, _ := strings.Cut(id, "_")
	switch prefix {
	case "df":
		return feedPagePath(id)
	case "sub":
		return subscriptionPagePath(id)
	case "dlv":
		return deliveryPagePath(id)
	case "key":
		return "/ui/keys"
	}
	return ""
}

func showKeyboard(v *visit) error { return v.render(http.StatusOK, "keyboard", "Keyboard", nil) }
