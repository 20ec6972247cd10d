package ui

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// refused returns the detail of a problem that the user can fix.
func refused(err error) (detail string, ok bool) {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Status < 400 || p.Status >= 500 || p.Status == http.StatusUnauthorized || p.Status == http.StatusNotFound {
		return "", false
	}
	details := []string{p.Detail}
	for _, f := range p.Errors {
		details = append(details, f.Detail)
	}
	if len(p.Errors) > 0 {
		details = details[1:]
	}
	return strings.Join(details, " "), true
}

// faultsOf returns the faults of a refused form by the pointers of its fields. Faults
// without a field are under "".
func faultsOf(err error, fields ...string) (map[string]string, bool) {
	places := make(map[string]string, len(fields))
	for _, field := range fields {
		places[field] = field
	}
	return faultsAt(err, places)
}

// faultsAt is [faultsOf] for a form whose fields have names of their own: places maps
// pointers to fields, and the longest pointer that contains a fault applies.
func faultsAt(err error, places map[string]string) (map[string]string, bool) {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Status < 400 || p.Status >= 500 || p.Status == http.StatusUnauthorized {
		return nil, false
	}
	faults := make(map[string]string)
	for _, f := range p.Errors {
		place, longest := "", ""
		for pointer, field := range places {
			where := strings.TrimPrefix(f.Where(), "/")
			if (where == pointer || strings.HasPrefix(where, pointer+"/")) && len(pointer) > len(longest) {
				place, longest = field, pointer
			}
		}
		faults[place] = strings.TrimSpace(faults[place] + " " + formFault(place, f))
	}
	if len(p.Errors) == 0 {
		faults[""] = p.Detail
	}
	return faults, true
}

// missing has what to do about fields that are empty, by their pointers.
var missing = map[string]string{
	"name": "Enter a name.", "serviceName": "Enter a name.", "url": "Enter a URL.", "request/url": "Enter a URL.",
	"events": "Choose at least one event type.", "scopes": "Choose at least one scope.", "fields": "Choose at least one field.", "type": "Choose an event type.",
	"key": "Choose at least one key column.", "config/host": "Enter a host.", "config/database": "Enter a database.",
	"config/user": "Enter a user.", "config/path": "Enter the path of a file.", "schedule": "Choose a schedule.",
	"auth": "Enter all fields of the credential.", "pagination": "Enter all fields of the pagination.",
}

// labels are the names of fields on the pages, where they differ from those of the API.
var labels = map[string]string{"url": "The URL", "name": "The name", "serviceName": "The name", "resourceId": "The resource", "id": "The ID", "expiresAt": "The end", "limit": "The limit", "overlap": "The overlap"}

// formFault returns the detail of a fault for the user of a form: the API names its
// fields, a form shows the message beside the field.
func formFault(place string, f client.Fault) string {
	empty := strings.HasSuffix(f.Detail, " is required.") || strings.HasSuffix(f.Detail, "must not be empty.") || strings.HasSuffix(f.Detail, "; it has 0.") || strings.HasSuffix(f.Detail, ", not null.")
	if empty && place != "" {
		return cmp.Or(missing[place], "Enter a value.")
	}
	name := f.Where()[strings.LastIndex(f.Where(), "/")+1:]
	if rest, named := strings.CutPrefix(f.Detail, name+" "); named && place != "" {
		return cmp.Or(labels[name], "This field") + " " + rest
	}
	return f.Detail
}

// act is a form that does one thing to a record and leads back to its page.
func act(do func(v *visit, id string) error, back func(id string) string, done string) func(*visit) error {
	return func(v *visit) error {
		id := v.r.PathValue("id")
		if err := do(v, id); err != nil {
			return err
		}
		return v.redirect(back(id) + "?did=" + done)
	}
}

func feedPagePath(id string) string { return "/ui/feeds/" + id }

func refreshFeed(v *visit, id string) error {
	_, err := v.api.RefreshDataFeed(v.r.Context(), id)
	return err
}

func pauseFeed(v *visit, id string) error {
	_, err := v.api.PauseDataFeed(v.r.Context(), id)
	return err
}

func resumeFeed(v *visit, id string) error {
	_, err := v.api.ResumeDataFeed(v.r.Context(), id)
	return err
}
