package manifest

import (
	"context"
	"maps"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Tables fetches records into tables, and asks those.
type Tables interface {
	// SelectFetched fetches what the definition of a REST feed asks for, and returns a
	// tree that was resolved over the columns. Give is handed the columns of the result
	// and then its rows. Where most is positive no more records are fetched once there
	// are so many.
	SelectFetched(ctx context.Context, job feedmill.Fetch, definition []byte, columns []feedmill.Column, t *query.Tree, most int64, give func([]feedmill.Column, []columnar.Vector) error) ([]feedmill.Warning, error)
}

// Services are manifests as services of the query builder.
type Services struct {
	Registry *Registry
	Tables   Tables
	// Clients are what the operator has registered at the providers of services that
	// people connect, by the names of the services.
	Clients map[string]feedmill.OAuthClient
	// Revoke gives back what a person has granted.
	Revoke func(ctx context.Context, service, refreshToken string) error
}

// All are the services that there are.
func (s *Services) All() []database.API {
	manifests := s.Registry.All()
	all := make([]database.API, len(manifests))
	for i, m := range manifests {
		all[i] = database.API{
			Connector: m.connector(), Title: m.Title, Personal: m.SignIn != nil,
			Open: func(use database.APIUse) database.Database { return &api{m, s.withClient(m, use), s} },
		}
		if m.SignIn != nil {
			all[i].Revoke = func(ctx context.Context, config feedmill.ConnectionConfig) error {
				return s.Revoke(ctx, m.Service, config[refreshToken])
			}
		}
	}
	return all
}

// withClient adds the operator's client to the config of a connection that a person
// has made.
func (s *Services) withClient(m *Manifest, use database.APIUse) database.APIUse {
	if m.SignIn == nil {
		return use
	}
	client := s.Clients[m.Service]
	use.Config = maps.Clone(use.Config)
	if use.Config == nil {
		use.Config = feedmill.ConnectionConfig{}
	}
	use.Config["clientId"], use.Config["clientSecret"] = client.ID, client.Secret
	return use
}

// connector says what a connection to the service says.
func (m *Manifest) connector() feedmill.Connector {
	c := feedmill.Connector{Name: m.Service}
	for _, s := range m.Settings {
		c.Settings = append(c.Settings, feedmill.ConnectorSetting{
			Name: s.Name, Title: s.Title, Description: s.Description, Required: s.Required, Default: s.Default, Secret: s.Secret, Place: m.leadsTo(s.Name),
		})
	}
	if m.SignIn != nil {
		c.Settings = append(c.Settings, feedmill.ConnectorSetting{Name: refreshToken, Secret: true, Granted: true})
	}
	return c
}

// leadsTo reports whether a setting says to which host requests are sent. Whatever
// stands in an address before its path may.
func (m *Manifest) leadsTo(setting string) bool {
	host := func(address string) string {
		scheme, rest, ok := strings.Cut(address, "://")
		if !ok {
			rest, scheme = scheme, ""
		}
		rest, _, _ = strings.Cut(rest, "/")
		return scheme + rest
	}
	names := func(address string) bool {
		for _, token := range ownToken.FindAllStringSubmatch(host(address), -1) {
			if token[1] == "config" && token[2] == setting {
				return true
			}
		}
		return false
	}
	addresses := []string{m.doc.Member("baseUrl").Text()}
	for _, pointer := range []string{"/request/url", "/auth/tokenUrl", "/auth/request/url", "/each/in/request/url", "/job/poll/url"} {
		addresses = append(addresses, textAt(&m.doc, pointer))
		for _, v := range m.Views {
			addresses = append(addresses, textAt(m.doc.Member("views").Member(v.Name), pointer))
		}
	}
	for _, address := range addresses {
		if names(address) {
			return true
		}
	}
	return false
}
