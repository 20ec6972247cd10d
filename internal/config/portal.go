package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/feedmill/feedmill"
)

var errPortal = errors.New("must have the members name, logo and accent, each a string")

// readPortal reads the look of the portal from a JSON object.
func readPortal(text string) (brand feedmill.PortalBrand, err error) {
	if text == "" {
		return brand, nil
	}
	strict := json.NewDecoder(strings.NewReader(text))
	strict.DisallowUnknownFields()
	if strict.Decode(&brand) != nil || strict.More() {
		return feedmill.PortalBrand{}, errPortal
	}
	return brand, nil
}

// readPortalNode reads it from a mapping of the configuration file.
func readPortalNode(at string, node *yaml.Node, into *feedmill.PortalBrand) error {
	*into = feedmill.PortalBrand{}
	members := map[string]*string{"name": &into.Name, "logo": &into.Logo, "accent": &into.Accent}
	for i := 0; i < len(node.Content); i += 2 {
		member, value := members[node.Content[i].Value], node.Content[i+1]
		if member == nil || value.Kind != yaml.ScalarNode {
			return fmt.Errorf("%s: portal %w", at, errPortal)
		}
		*member = value.Value
	}
	return nil
}

var (
	logoShape   = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+=*$`)
	accentShape = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)
	hostShape   = regexp.MustCompile(`^([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?$`)
)

func checkPortal(c *Config) error {
	b := c.Portal
	switch {
	case utf8.RuneCountInString(b.Name) > feedmill.MaxPortalName:
		return fmt.Errorf("name must have at most %d characters", feedmill.MaxPortalName)
	case len(b.Logo) > feedmill.MaxPortalLogo:
		return fmt.Errorf("logo must have at most %d bytes; it has %d", feedmill.MaxPortalLogo, len(b.Logo))
	case b.Logo != "" && !logoShape.MatchString(b.Logo):
		return errors.New("logo must be a PNG, JPEG, GIF, WebP or SVG image as a data URI, such as data:image/png;base64,…")
	case b.Accent != "" && !accentShape.MatchString(b.Accent):
		return errors.New("accent must be a color such as #0b6e5a")
	}
	return nil
}

// checkPortalOrigins makes sure that the origins can be part of a Content-Security-Policy, and
// writes them as browsers do.
func checkPortalOrigins(c *Config) error {
	for i, text := range c.PortalOrigins {
		u, err := url.Parse(strings.ToLower(text))
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || !hostShape.MatchString(u.Host) || u.Scheme+"://"+u.Host != strings.ToLower(text) {
			return errors.New("must be origins without a path, such as https://app.example.com")
		}
		c.PortalOrigins[i] = u.Scheme + "://" + u.Host
	}
	slices.Sort(c.PortalOrigins)
	c.PortalOrigins = slices.Compact(c.PortalOrigins)
	return nil
}

// portalText is the look of the portal as a value of the configuration file.
func portalText(b feedmill.PortalBrand) string {
	return fmt.Sprintf("{name: %s, logo: %s, accent: %s}", strconv.Quote(b.Name), strconv.Quote(b.Logo), strconv.Quote(b.Accent))
}
