package app

import (
	"errors"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/serve"
	"github.com/feedmill/feedmill/internal/source/manifest"
)

// Check says what is wrong with a configuration as far as that can be told
// without opening anything: everything that the parts of the service would
// refuse, each with its setting and where that came from.
func Check(c *config.Config) error {
	var errs []error
	check := func(setting string, err error) bool {
		if err != nil {
			errs = append(errs, c.Wrong(setting, err))
		}
		return err == nil
	}
	_, err := egress.New(egress.Options{Allow: c.EgressAllow})
	check("egressAllow", err)
	_, err = egress.New(egress.Options{Proxy: c.EgressProxy})
	check("egressProxy", err)
	_, err = serve.NewCORS(c.CORSOrigins)
	check("corsOrigins", err)
	own, err := feedmill.NewCatalogue(c.EventTypes, nil)
	if check("eventTypes", err) {
		_, err = publish.NewSchemas(own)
		check("eventTypes", err)
		// The operator's types can make the families that are turned on.
		_, err = feedmill.NewCatalogue(c.EventTypes, c.EventFamilies)
		check("eventFamilies", err)
	}
	if c.BlobURL != "" {
		_, err = blob.ParseLocation(c.BlobURL)
		check("blobUrl", err)
	}
	if _, err := newMailServer(c); err != nil {
		errs = append(errs, err)
	}
	_, err = manifest.NewRegistry(c.ServicesDir, nil)
	check("servicesDir", err)
	return errors.Join(errs...)
}
