package ui

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// maxWorkspaces is how many workspaces the page searches, and shownWorkspaces how many it shows.
const maxWorkspaces, shownWorkspaces = 2000, 200

// workspaceList is the page of the workspaces, with one of them beside the list.
type workspaceList struct {
	Rows  []workspaceRow
	Total int
	// More reports that there are more workspaces than the page searches.
	More       bool
	Stored     int64
	Query      string
	Sort       string
	Name       string
	Chosen     *workspaceForm
	Faults     map[string]string
	Trouble    string
	SortChoice []string
}

// workspaceRow is a workspace in the list, and how much of its quota it has stored.
type workspaceRow struct {
	client.Workspace
	Share float64
	Limit int64
}

// Tone is the tone of the meter.
func (r workspaceRow) Tone() string {
	switch {
	case r.Limit > 0 && r.Share >= 1:
		return "bad"
	case r.Limit > 0 && r.Share >= .9:
		return "warn"
	}
	return ""
}

func workspaceRowOf(w client.Workspace) workspaceRow {
	row := workspaceRow{Workspace: w}
	if q := w.Quotas.StoredBytes; q != nil {
		row.Limit = *q
		if row.Share = 1; *q > 0 {
			row.Share = min(float64(w.Usage.StoredBytes)/float64(*q), 1)
		}
	}
	return row
}

// workspaceForm is the form of a workspace: what is in the fields, and the workspace itself.
type workspaceForm struct {
	workspaceRow
	Values map[string]string
	Faults map[string]string
	// Links are the newest portal links, and Made one that was just created, which is shown
	// once.
	Links []client.PortalLink
	Made  *client.PortalLink
}

// quotaRow is a row of the form.
type quotaRow struct {
	ID, Label, Value, Used, Fault, Unit string
	Share                               float64
	Has                                 bool
}

// QuotaRows are the quotas with what is used of them.
func (f *workspaceForm) QuotaRows() []quotaRow {
	row := func(id, label, used string, n int64, quota *int64) quotaRow {
		r := quotaRow{ID: id, Label: label, Value: f.Values[id], Used: used, Fault: f.Faults[id], Has: quota != nil}
		if quota != nil && *quota > 0 {
			r.Share = min(float64(n)/float64(*quota), 1)
		}
		return r
	}
	wide := func(n *int) *int64 {
		if n == nil {
			return nil
		}
		return new(int64(*n))
	}
	u, q := f.Usage, f.Quotas
	rows := []quotaRow{
		row("stored", "Stored bytes", byteSize(u.StoredBytes)+" used", u.StoredBytes, q.StoredBytes),
		row("subscriptions", "Subscriptions", number(u.Subscriptions)+" used", u.Subscriptions, wide(q.Subscriptions)),
		row("uploads", "Concurrent uploads", number(u.ConcurrentUploads)+" running", int64(u.ConcurrentUploads), wide(q.ConcurrentUploads)),
		row("queries", "Concurrent queries", number(u.ConcurrentQueries)+" running", int64(u.ConcurrentQueries), wide(q.ConcurrentQueries)),
	}
	rows[0].Unit = "bytes"
	return rows
}

func newWorkspaceForm(w client.Workspace) *workspaceForm {
	f := &workspaceForm{workspaceRow: workspaceRowOf(w), Values: map[string]string{"name": w.Name, "external": w.ExternalID}}
	if len(w.Metadata) > 0 {
		if text, err := json.Marshal(w.Metadata); err == nil {
			f.Values["metadata"] = string(text)
		}
	}
	if n := w.Quotas.StoredBytes; n != nil {
		f.Values["stored"] = strconv.FormatInt(*n, 10)
	}
	for id, n := range map[string]*int{"subscriptions": w.Quotas.Subscriptions, "uploads": w.Quotas.ConcurrentUploads, "queries": w.Quotas.ConcurrentQueries} {
		if n != nil {
			f.Values[id] = strconv.Itoa(*n)
		}
	}
	return f
}

// workspaceFields maps the members of a workspace to the fields of the form.
var workspaceFields = map[string]string{
	"name": "name", "externalId": "external", "metadata": "metadata", "quotas/storedBytes": "stored", "quotas/subscriptions": "subscriptions",
	"quotas/concurrentUploads": "uploads", "quotas/concurrentQueries": "queries",
}

func (l *workspaceList) show(v *visit, status int) error {
	q := v.r.URL.Query()
	l.Query, l.Sort, l.SortChoice = strings.TrimSpace(q.Get("q")), cmp.Or(q.Get("sort"), "name"), []string{"name", "stored", "last request"}
	wanted := strings.ToLower(l.Query)
	seen := 0
	for w, err := range v.api.Workspaces(v.r.Context()) {
		if err != nil {
			return err
		}
		if seen++; seen > maxWorkspaces {
			l.More = true
			break
		}
		l.Stored += w.Usage.StoredBytes
		if wanted == "" || strings.Contains(strings.ToLower(w.Name), wanted) || strings.Contains(strings.ToLower(w.ExternalID), wanted) || w.ID == l.Query {
			l.Rows = append(l.Rows, workspaceRowOf(w))
		}
	}
	l.Total = min(seen, maxWorkspaces)
	slices.SortStableFunc(l.Rows, func(a, b workspaceRow) int {
		switch l.Sort {
		case "stored":
			return cmp.Compare(b.Usage.StoredBytes, a.Usage.StoredBytes)
		case "last request":
			return b.LastRequestAt.Compare(a.LastRequestAt)
		}
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	for _, r := range l.Rows {
		if r.Tone() != "" && l.Trouble == "" {
			l.Trouble = r.Name + " has used " + percent(float64(r.Usage.StoredBytes)/float64(max(r.Limit, 1))) + " of " + byteSize(r.Limit) + "."
		}
	}
	l.Rows = l.Rows[:min(len(l.Rows), shownWorkspaces)]
	if err := l.Chosen.findLinks(v); err != nil {
		return err
	}
	return v.render(status, "workspaces", "Workspaces", l)
}

func showWorkspaces(v *visit) error { return (&workspaceList{}).show(v, http.StatusOK) }

func showWorkspace(v *visit) error {
	w, err := v.api.Workspace(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return (&workspaceList{Chosen: newWorkspaceForm(w)}).show(v, http.StatusOK)
}

func createWorkspace(v *visit) error {
	l := workspaceList{Name: strings.TrimSpace(v.r.PostFormValue("name"))}
	w, err := v.api.CreateWorkspace(v.r.Context(), l.Name)
	if err != nil {
		faults, ok := faultsOf(err, "name")
		if !ok {
			return err
		}
		l.Faults = faults
		return l.show(v, http.StatusUnprocessableEntity)
	}
	return enterWorkspace(v, w.ID)
}

// changeWorkspace saves the form of a workspace. An empty quota is the server's default.
func changeWorkspace(v *visit) error {
	id := v.r.PathValue("id")
	w, err := v.api.Workspace(v.r.Context(), id)
	if err != nil {
		return err
	}
	form := newWorkspaceForm(w)
	form.Faults = make(map[string]string)
	value := func(field string) string {
		form.Values[field] = strings.TrimSpace(v.r.PostFormValue(field))
		return form.Values[field]
	}
	change := client.WorkspaceChange{"externalId": nil, "metadata": json.RawMessage(cmp.Or(value("metadata"), "{}"))}
	if name := value("name"); name != w.Name {
		change["name"] = name
	}
	if external := value("external"); external != "" {
		change["externalId"] = external
	}
	if !json.Valid(change["metadata"].(json.RawMessage)) {
		form.Faults["metadata"] = "Enter a JSON object, such as {\"plan\": \"business\"}."
	}
	quotas := make(map[string]any)
	for member, field := range workspaceFields {
		name, isQuota := strings.CutPrefix(member, "quotas/")
		if !isQuota {
			continue
		}
		quotas[name] = nil
		if text := value(field); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				form.Faults[field] = "Enter a whole number, or leave the field empty for the server's default."
			}
			quotas[name] = n
		}
	}
	change["quotas"] = quotas
	if len(form.Faults) == 0 {
		if _, err = v.api.ChangeWorkspace(v.r.Context(), id, change); err == nil {
			return v.redirect("/ui/workspaces/" + w.ID + "?did=saved")
		}
		faults, ok := faultsAt(err, workspaceFields)
		if !ok {
			return err
		}
		form.Faults = faults
	}
	return (&workspaceList{Chosen: form}).show(v, http.StatusUnprocessableEntity)
}

// deleteWorkspace deletes a workspace whose name the visitor has typed.
func deleteWorkspace(v *visit) error {
	id := v.r.PathValue("id")
	_, err := v.api.DeleteWorkspace(v.r.Context(), id, strings.TrimSpace(v.r.PostFormValue("confirm")))
	if err == nil {
		return v.redirect("/ui/workspaces/" + id + "?did=deleting")
	}
	faults, ok := faultsAt(err, map[string]string{"confirm": "confirm"})
	if !ok {
		return err
	}
	w, err := v.api.Workspace(v.r.Context(), id)
	if err != nil {
		return err
	}
	form := newWorkspaceForm(w)
	form.Faults = faults
	return (&workspaceList{Chosen: form}).show(v, http.StatusUnprocessableEntity)
}

func switchWorkspace(v *visit) error { return enterWorkspace(v, v.r.PathValue("id")) }

func enterWorkspace(v *visit, id string) error {
	if _, err := v.api.MoveSession(v.r.Context(), id); err != nil {
		return err
	}
	return v.redirect("/ui/feeds")
}
