package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// SignIns makes links with which people connect services.
type SignIns interface {
	Offer(ctx context.Context, workspace feedmill.ID, service, redirect string) (feedmill.SignInLink, error)
}

// creationURL makes the link with which a person connects a service and makes a feed
// of it.
func (s *Server) creationURL(c *call) (answer, error) {
	service, given := c.query["serviceName"]
	if !given || service == "" {
		c.fault(feedmill.Fault{Parameter: "serviceName", Detail: "serviceName is required: set it to a personal service. GET /query_builder/services lists them."})
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	link, err := s.SignIns.Offer(c.ctx(), c.who.Workspace, service, c.query["redirectUri"])
	if err != nil {
		return answer{}, err
	}
	view := client.CreationLink{ServiceName: link.Service, URL: link.URL, ExpiresAt: link.ExpiresAt}
	again := url.Values{"serviceName": {service}}
	if to := c.query["redirectUri"]; to != "" {
		again.Set("redirectUri", to)
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{"/data_feeds/creation_url?" + again.Encode()}, view}).withSecret(), nil
}
