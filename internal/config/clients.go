package config

import (
	"errors"
	"strings"

	"github.com/feedmill/feedmill"
)

// Clients are the clients of services that people connect, by the names of those. An
// error has nothing of them in it.
func (c *Config) Clients() (map[string]feedmill.OAuthClient, error) {
	clients := make(map[string]feedmill.OAuthClient, len(c.ServiceClients))
	for _, text := range c.ServiceClients {
		service, client, ok := strings.Cut(text, "=")
		id, secret, both := strings.Cut(client, ":")
		if !ok || !both || service == "" || id == "" {
			return nil, errors.New("each must be service=id:secret, such as hubspot=my-client:its-secret")
		}
		clients[service] = feedmill.OAuthClient{ID: id, Secret: secret}
	}
	return clients, nil
}
