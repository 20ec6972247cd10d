package api

import (
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// problemPage is the page of the documentation that has a section for each type of problems.
const problemPage = "/docs/reference/problems"

// getProblemType explains the problems of a type: to browsers with a page, and to programs in JSON.
func (s *Server) getProblemType(c *call) (answer, error) {
	types := feedmill.ProblemTypes()
	at := slices.IndexFunc(types, func(t feedmill.ProblemType) bool { return t.Slug == c.r.PathValue("slug") })
	if at < 0 {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: "This problem type does not exist. " + problemPage + " lists all of them."}
	}
	t := types[at]
	a := jsonAnswer(http.StatusOK, client.ProblemType{Type: "/problems/" + t.Slug, Title: t.Title, Description: t.Meaning, Fix: t.Fix})
	if prefersHTML(c.r.Header.Get("Accept")) {
		a = answer{status: http.StatusSeeOther}
		a.set("Location", problemPage+"#"+t.Slug)
	}
	a.set("Vary", "Accept")
	return a, nil
}

// prefersHTML reports whether a client prefers a page to JSON.
func prefersHTML(accept string) bool {
	for _, name := range acceptedTypes(accept) {
		if name == "text/html" || name == "application/xhtml+xml" {
			return true
		}
		if covers(name, "application/json") || name == "application/problem+json" {
			return false
		}
	}
	return false
}
