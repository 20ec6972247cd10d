package ui

import (
	"errors"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// refused is what the API says of a request that a person can mend.
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

// faultsOf is what the API says of the fields of a form, by their pointers; what
// has no field stands under "".
func faultsOf(err error, fields ...string) (map[string]string, bool) {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Status < 400 || p.Status >= 500 || p.Status == http.StatusUnauthorized {
		return nil, false
	}
	faults := make(map[string]string)
	for _, f := range p.Errors {
		place := ""
		for _, field := range fields {
			if where := strings.TrimPrefix(f.Where(), "/"); where == field || strings.HasPrefix(where, field+"/") {
				place = field
			}
		}
		faults[place] = strings.TrimSpace(faults[place] + " " + f.Detail)
	}
	if len(p.Errors) == 0 {
		faults[""] = p.Detail
	}
	return faults, true
}

// act is a form that does one thing to a record and leads back to its page.
func act(do func(v *visit, id string) error, back func(id string) string, said string) func(*visit) error {
	return func(v *visit) error {
		id := v.r.PathValue("id")
		if err := do(v, id); err != nil {
			return err
		}
		return v.redirect(back(id) + "?did=" + said)
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
