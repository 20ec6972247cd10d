package app

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/deliver"
	"github.com/feedmill/feedmill/internal/destination/webhook"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/subscribe"
)

// destination is a kind of destination that subscriptions can have.
type destination interface {
	subscribe.Kind
	deliver.Kind
}

// destinations are all of them. URLs of unknown schemes go to the first, which refuses them.
func (a *App) destinations() []destination {
	return []destination{
		&webhook.Kind{Transport: a.egress.Express(machine.OpenFiles()/8, feedmill.MaxReadAnswer), Forbidden: egress.ErrForbidden, URLs: a.egress.Policy()},
	}
}

// definedKinds are the kinds as subscriptions are defined by them.
func definedKinds(all []destination) (kinds []subscribe.Kind) {
	for _, d := range all {
		kinds = append(kinds, d)
	}
	return kinds
}

// sentKinds are the kinds as deliveries are sent to them.
func sentKinds(all []destination) map[feedmill.DestinationKind]deliver.Kind {
	kinds := make(map[feedmill.DestinationKind]deliver.Kind)
	for _, d := range all {
		kinds[d.Name()] = d
	}
	return kinds
}
