package ui

import (
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// shownPortalLinks is how many portal links the page of a workspace lists.
const shownPortalLinks = 20

// portalChoice is a choice of pages that a link opens.
type portalChoice struct{ Pages, Words string }

// portalChoices are all combinations of pages.
func portalChoices() (all []portalChoice) {
	for set := 1; set < 1<<len(feedmill.PortalPages); set++ {
		var pages []feedmill.PortalPage
		for i, page := range feedmill.PortalPages {
			if set&(1<<i) != 0 {
				pages = append(pages, page)
			}
		}
		all = append(all, portalChoice{joinPages(pages), portalWords(pages)})
	}
	return all
}

func joinPages(pages []feedmill.PortalPage) string {
	var names []string
	for _, page := range pages {
		names = append(names, string(page))
	}
	return strings.Join(names, ",")
}

// portalWords names the pages that a link opens.
func portalWords(pages []feedmill.PortalPage) string {
	if len(pages) == len(feedmill.PortalPages) {
		return "All pages"
	}
	text := strings.ReplaceAll(joinPages(pages), ",", ", ")
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// findLinks reads the newest portal links, for an admin of the workspace "default".
func (f *workspaceForm) findLinks(v *visit) error {
	if f == nil || !v.me.AllWorkspaces || f.Deleting != nil {
		return nil
	}
	v.api.PageSize = shownPortalLinks
	for l, err := range v.api.PortalLinks(v.r.Context(), f.ID) {
		if err != nil {
			return err
		}
		if f.Links = append(f.Links, l); len(f.Links) == shownPortalLinks {
			break
		}
	}
	return nil
}

func createPortalLink(v *visit) error {
	id := v.r.PathValue("id")
	w, err := v.api.Workspace(v.r.Context(), id)
	if err != nil {
		return err
	}
	form := newWorkspaceForm(w)
	for _, name := range []string{"pages", "access", "expiresIn"} {
		form.Values[name] = v.r.PostFormValue(name)
	}
	link := client.NewPortalLink{Access: feedmill.PortalAccess(form.Values["access"])}
	for _, page := range feedmill.PortalPages {
		if slices.Contains(strings.Split(form.Values["pages"], ","), string(page)) {
			link.Pages = append(link.Pages, page)
		}
	}
	if age, err := feedmill.ParseDuration(form.Values["expiresIn"]); err == nil {
		link.ExpiresIn = client.Duration(age)
	}
	made, err := v.api.CreatePortalLink(v.r.Context(), id, link)
	if err != nil {
		faults, ok := faultsOf(err)
		if !ok {
			return err
		}
		form.Faults = faults
		return (&workspaceList{Chosen: form}).show(v, http.StatusUnprocessableEntity)
	}
	form.Made = &made
	return (&workspaceList{Chosen: form}).show(v, http.StatusOK)
}

func revokePortalLink(v *visit) error {
	id := v.r.PathValue("id")
	if err := v.api.DeletePortalLink(v.r.Context(), id, v.r.PathValue("ptl")); err != nil {
		return err
	}
	return v.redirect("/ui/workspaces/" + id + "?did=revoked")
}
