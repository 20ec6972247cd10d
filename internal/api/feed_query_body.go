package api

import (
	"net/http"

	"github.com/feedmill/feedmill/internal/query"
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
	if err := c.finish(body); err != nil {
		return answer{}, err
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
