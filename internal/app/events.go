package app

import (
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/deliver"
	"github.com/feedmill/feedmill/internal/destination/mail"
	"github.com/feedmill/feedmill/internal/listen"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/subscribe"
)

// events are the parts that take events in and bring them to subscribers.
type events struct {
	catalogue  *feedmill.Catalogue
	publisher  *publish.Publisher
	dispatcher *deliver.Dispatcher
	listeners  *listen.Hub
	kinds      []subscribe.Kind
	filters    *publish.Filters
	consents   *mail.Consents
	// close closes the connections to destinations.
	close func()
}

// queues are all told of what is due.
type queues struct {
	*deliver.Dispatcher
	listeners *listen.Hub
}

func (q queues) Offer(due []feedmill.DueDelivery) {
	q.Dispatcher.Offer(due)
	q.listeners.Offer(due)
}

// offers passes on what the store offers: deliveries that are due of the events that it
// writes with a change. The store comes before those who send, so these subscribe to it.
// In commands nobody does; the next server finds the deliveries in the store.
type offers struct {
	mu sync.RWMutex
	to []func([]feedmill.DueDelivery)
}

func (o *offers) subscribe(to func([]feedmill.DueDelivery)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to = append(o.to, to)
}

func (o *offers) offer(due []feedmill.DueDelivery) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, to := range o.to {
		to(due)
	}
}

// maxInFlight bounds the attempts under way. Where the process may have few files
// open, it is a quarter of those.
const maxInFlight = 4096

func (a *App) newEvents(version string, metrics prometheus.Registerer) (*events, error) {
	catalogue, err := feedmill.NewCatalogue(a.config.EventTypes, a.config.EventFamilies)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	schemas, err := publish.NewSchemas(catalogue)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if !a.config.EnforceSchemas {
		schemas = nil
	}
	schedule := feedmill.RetrySchedule(a.config.RetrySchedule)
	targetAge := time.Duration(0)
	if a.config.DatabaseURL == "" {
		targetAge = time.Minute // nobody else changes the embedded store
	}
	mails, err := a.newMail()
	if err != nil {
		return nil, err
	}
	destinations := a.destinations(mails)
	filters := &publish.Filters{Store: a.store, Evaluator: a.expressions}
	dispatcher := deliver.New(deliver.Options{
		Shape:   a.expressions.Body,
		Signals: a.signals,
		Store:   a.store, Vault: a.vault, Schedule: schedule, Log: a.log, Metrics: metrics, Replica: a.replica, TargetAge: targetAge,
		MaxInFlight: min(maxInFlight, machine.OpenFiles()/4),
		Kinds:       sentKinds(destinations), UserAgent: "Feedmill/" + version,
	})
	listeners := listen.New(listen.Options{Store: a.store, Log: a.log, Headers: dispatcher.Headers, Sample: deliver.TestDelivery})
	queue := queues{dispatcher, listeners}
	a.offers.subscribe(queue.Offer)
	publisher := publish.New(publish.Options{Store: a.store, Queue: queue, Catalogue: catalogue, Schemas: schemas, Filters: filters, Metrics: metrics})
	consents := mail.NewConsents(mail.Consents{Kind: mails, Store: a.store, Vault: a.vault, Changed: dispatcher.Changed, Log: a.log})
	return &events{catalogue, publisher, dispatcher, listeners, definedKinds(destinations), filters, consents, func() { closeDestinations(destinations) }}, nil
}

// apiOptions are the parts of the API that do not depend on who may use it.
func (a *App) apiOptions(e *events, metrics *prometheus.Registry) api.Options {
	return api.Options{
		Store: a.store, Vault: a.vault, Log: a.log, Metrics: metrics, Expressions: a.expressions,
		Publisher: e.publisher, Dispatcher: e.dispatcher, Listeners: e.listeners, Catalogue: e.catalogue,
		Subscriptions: subscribe.New(subscribe.Options{
			Store: a.store, Vault: a.vault, Catalogue: e.catalogue, Kinds: e.kinds, Changed: e.dispatcher.Changed, Max: a.config.MaxSubscriptions,
			Expressions: a.expressions, FilterChanged: e.filters.Forget, ToConfirm: e.consents.Wake,
		}),
		Formats: decode.Formats(), CheckReading: decode.CheckReading, Decompress: decode.Decompress, MaxUpload: a.config.MaxUploadBytes,
		RetrySchedule: a.config.RetrySchedule,
		RateLimit:     a.config.RateLimit, RateBurst: a.config.RateBurst, PublicURL: a.config.PublicURL, PortalOrigins: a.config.PortalOrigins, Folder: a.config.Data,
	}
}
