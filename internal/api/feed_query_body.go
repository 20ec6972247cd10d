package api

import (
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// queryFeed answers the rows that a query in the body asks for.
func (s *Server) queryFeed(c *call) (answer, error) {
	format, refusal := c.outputFormat()
	number := c.versionNumber("version")
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	q := query.Read(body, now())
	if body.Has("computed") {
		body.Fault("computed", "computed is not supported here. Create a feed from a query with computed fields, and query that feed.")
	}
	if err := c.finish(body); err != nil {
		return answer{}, s.withQueryFaults(c, err, number, q)
	}
	f, v, err := s.feedVersion(c, number)
	if err != nil {
		return answer{}, err
	}
	if refusal != nil {
		return *refusal, nil
	}
	if q.Limit == 0 && format.paged {
		q.Limit = defaultRows
	}
	a := answer{status: http.StatusOK, contentType: format.contentType}
	a.set("Vary", "Accept")
	if format.extension != "" {
		a.set("Content-Disposition", attachment(f.Name, format.extension))
	}
	coding := c.coding(format)
	a.coded(coding)
	return s.sendRows(c, a, v, q, format, coding)
}

// withQueryFaults is a refusal with what is wrong with the query for the columns of the feed. Only
// unknown members leave a query that can be checked.
func (s *Server) withQueryFaults(c *call, refused error, number int64, q feedmill.Query) error {
	if slices.ContainsFunc(c.faults.List, func(f feedmill.Fault) bool { return !strictjson.IsUnknown(f.Detail) }) {
		return refused
	}
	_, v, err := s.feedVersion(c, number)
	if err != nil {
		return refused
	}
	_, faults := query.Resolve(q, v.Columns)
	return feedmill.WithFaults(refused, inSentences(faults.Err()))
}
