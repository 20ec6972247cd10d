package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// subscriptionFields are the flags for the fields of a subscription.
type subscriptionFields struct {
	cmd                                *cobra.Command
	url, name, method, resource, state string
	events, headers, without           []string
	credentials                        []string
	withoutCredentials                 bool
	tls, oauth2                        []string
	withoutTLS, withoutOAuth2          bool
	timeout                            client.Duration
	rate                               rateValue
	concurrency                        int
	ordered                            bool
	batch                              batchValue
	retries                            []string
	disableAfter                       string
	filter, transform, preset, secret  string
}

func newSubscriptionFields(cmd *cobra.Command) *subscriptionFields {
	f := &subscriptionFields{cmd: cmd}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "URL of an endpoint, of a broker such as nats://host:4222/subject, or mailto:ADDRESS")
	flags.StringSliceVar(&f.events, "events", nil, "event types, or families such as metric.*")
	flags.StringVar(&f.name, "name", "", "display name")
	flags.StringVar(&f.method, "method", "", "POST, or GET with the event in the query string")
	flags.StringVar(&f.resource, "resource", "", "only events about this resource")
	f.addShapeFlags(flags)
	flags.StringArrayVar(&f.headers, "header", nil, "extra header as name=value or name=@file (repeatable)")
	flags.StringArrayVar(&f.credentials, "credential", nil, "credential for a broker as name=value or name=@file (repeatable)")
	flags.StringArrayVar(&f.tls, "tls", nil, "certificates of a webhook as name=@file: caCert, clientCert, clientKey (repeatable)")
	flags.StringArrayVar(&f.oauth2, "oauth2", nil, "OAuth 2.0 client as name=value or name=@file: tokenUrl, clientId, clientSecret, scope, audience (repeatable)")
	flags.Var((*durationValue)(&f.timeout), "timeout", "timeout of a request, up to 60s")
	flags.Var(&f.rate, "rate-limit", "requests per second such as 10, or per time such as 100/1m; none removes the limit")
	flags.IntVar(&f.concurrency, "concurrency", 0, "maximum concurrent requests")
	flags.BoolVar(&f.ordered, "ordered", false, "deliver the events of each resource in order")
	flags.Var(&f.batch, "batch", "send arrays of up to 100 events, such as 50, or 50/5s to wait up to 5s; none sends each event alone")
	flags.StringSliceVar(&f.retries, "retry-schedule", nil, "delays before each retry, such as 5s,5m,1h; default restores the default schedule")
	flags.StringVar(&f.disableAfter, "disable-after", "", "disable the subscription after failing for this long, 1d to 30d, or off")
	completeFlag(cmd, "events", completeEventNames)
	completeFlag(cmd, "preset", completeOf(feedmill.Presets...))
	completeFlag(cmd, "method", completeOf("POST", "GET"))
	return f
}

func newSubscriptionsCreate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create --url URL --events TYPES",
		Short: "Create a subscription and print its signing secret once",
		Long: `Subscribes an endpoint to events. Types of datafeed.source.* need their own
subscription: if you combine them with other types, two subscriptions are created, each
with its own secret. If one of them fails, the other is printed and the exit code is 1.`,
		Args: cobra.NoArgs,
	}
	f := newSubscriptionFields(cmd)
	cmd.Flags().StringVar(&f.secret, "signing-secret", "", "file with the signing secret, as @file (default: a generated secret)")
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		if f.url == "" || len(f.events) == 0 {
			return usagef("specify --url and --events")
		}
		headers, err := namedValues("--header", f.headers)
		if err != nil {
			return err
		}
		credentials, err := namedValues("--credential", f.credentials)
		if err != nil {
			return err
		}
		tls, err := readNamed[client.WebhookTLS]("--tls", f.tls)
		if err != nil {
			return err
		}
		oauth2, err := readNamed[client.WebhookOAuth2]("--oauth2", f.oauth2)
		if err != nil {
			return err
		}
		waits, err := f.waits()
		if err != nil {
			return err
		}
		patience, err := f.patience()
		if err != nil {
			return err
		}
		if err := f.readShape(); err != nil {
			return err
		}
		if f.secret != "" && !strings.HasPrefix(f.secret, "@") {
			return usagef("--signing-secret: specify a file, as @FILE")
		}
		secret, err := textOrFile("--signing-secret", f.secret)
		if err != nil {
			return err
		}
		made, err := c.CreateSubscription(ctx, client.NewSubscription{
			SigningSecret: secret,
			Filter:        f.filter, Transform: f.transform, Preset: f.preset,
			Name: f.name, URL: f.url, Events: f.events, HTTPOperation: f.method, Filters: client.Filters{ResourceID: f.resource},
			Delivery: client.NewDelivery{Timeout: f.timeout, RateLimit: f.rate.RateLimit, Concurrency: f.concurrency, Ordered: f.ordered, Headers: headers, Credentials: credentials, TLS: tls, OAuth2: oauth2, RetrySchedule: waits, DisableAfter: patience, Batch: f.batch.Batch},
		})
		if err != nil {
			return err
		}
		return p.created(made)
	})
}

// created prints what a creation made, and returns what it could not make.
func (p *printer) created(made client.CreatedSubscriptions) error {
	err := p.show(func() error {
		for _, s := range made.Created {
			p.subscription(s)
			p.printf("\n  %s\n\n", s.SigningSecret)
		}
		if len(made.Created) > 1 {
			return p.printf("Copy the secrets now; they are not shown again.\n")
		}
		return p.printf("Copy the secret now; it is not shown again.\n")
	})
	if err != nil {
		return err
	}
	var failed []error
	for _, f := range made.Failed {
		failed = append(failed, f)
	}
	return errors.Join(failed...)
}

func newSubscriptionsUpdate() *cobra.Command {
	cmd := oneSubscription("update", "Change a subscription")
	cmd.Long = `Changes only what the flags specify. An empty --name, --resource, --filter,
--transform or --preset removes it.
--state paused stops deliveries, and --state active resumes them. --credential, --tls and
--oauth2 each replace all stored values of their kind. The value *** keeps a stored secret.`
	f := newSubscriptionFields(cmd)
	cmd.Flags().StringVar(&f.state, "state", "", "active, paused or disabled")
	cmd.Flags().StringSliceVar(&f.without, "remove-header", nil, "remove an extra header")
	cmd.Flags().BoolVar(&f.withoutCredentials, "remove-credentials", false, "remove all credentials")
	cmd.Flags().BoolVar(&f.withoutTLS, "remove-tls", false, "remove the certificates")
	cmd.Flags().BoolVar(&f.withoutOAuth2, "remove-oauth2", false, "remove the OAuth 2.0 client")
	states := []string{string(feedmill.SubscriptionActive), string(feedmill.SubscriptionPaused), string(feedmill.SubscriptionDisabled)}
	completeFlag(cmd, "state", completeOf(states...))
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if !f.anyGiven() {
			return usagef("specify a change; see feedmill subscriptions update --help")
		}
		change, err := f.change()
		if err != nil {
			return err
		}
		s, err := c.ChangeSubscription(ctx, args[0], change)
		return shown(p, s, err, (*printer).subscription)
	})
}

func (f *subscriptionFields) given(flag string) bool { return f.cmd.Flags().Changed(flag) }

func (f *subscriptionFields) anyGiven() bool {
	fields := []string{
		"url", "events", "name", "method", "resource", "state", "header", "remove-header", "credential", "remove-credentials", "tls", "remove-tls", "oauth2", "remove-oauth2", "timeout", "rate-limit", "concurrency", "ordered", "batch",
		"retry-schedule", "disable-after", "filter", "transform", "preset",
	}
	return slices.ContainsFunc(fields, f.given)
}

// change is what the flags that were given say.
func (f *subscriptionFields) change() (client.SubscriptionChange, error) {
	change := client.SubscriptionChange{URL: f.url, Events: f.events, State: feedmill.SubscriptionState(f.state)}
	if f.given("name") {
		change.Name = orReset(f.name)
	}
	if f.given("method") {
		change.HTTPOperation = orReset(f.method)
	}
	if f.given("resource") {
		if change.Filters = client.To(client.Filters{ResourceID: f.resource}); f.resource == "" {
			change.Filters = client.Reset[client.Filters]()
		}
	}
	if err := f.changeShape(&change); err != nil {
		return change, err
	}
	delivery, err := f.deliveryChange()
	if err == nil && delivery != nil {
		change.Delivery = client.To(*delivery)
	}
	return change, err
}

// deliveryChange is what the flags say about delivery; nil where they say nothing.
func (f *subscriptionFields) deliveryChange() (*client.DeliveryChange, error) {
	var d client.DeliveryChange
	changed := false
	for flag, set := range map[string]func(){
		"timeout":     func() { d.Timeout = client.To(f.timeout) },
		"concurrency": func() { d.Concurrency = client.To(f.concurrency) },
		"ordered":     func() { d.Ordered = client.To(f.ordered) },
		"batch": func() {
			if d.Batch = client.Reset[client.Batch](); f.batch.Batch != nil {
				d.Batch = client.To(*f.batch.Batch)
			}
		},
		"rate-limit": func() {
			if d.RateLimit = client.Reset[client.RateLimit](); f.rate.RateLimit != nil {
				d.RateLimit = client.To(*f.rate.RateLimit)
			}
		},
	} {
		if f.given(flag) {
			set()
			changed = true
		}
	}
	if f.given("retry-schedule") {
		changed = true
		waits, err := f.waits()
		if err != nil {
			return nil, err
		}
		if d.RetrySchedule = client.To(waits); waits == nil {
			d.RetrySchedule = client.Reset[[]client.Duration]()
		}
	}
	if f.given("disable-after") {
		changed = true
		patience, err := f.patience()
		if err != nil {
			return nil, err
		}
		d.DisableAfter = client.To(patience)
	}
	headers, err := namedValues("--header", f.headers)
	if err != nil {
		return nil, err
	}
	if len(headers)+len(f.without) > 0 {
		changed = true
		d.Headers = make(map[string]client.Field[string])
	}
	for name, value := range headers {
		d.Headers[name] = client.To(value)
	}
	for _, name := range f.without {
		d.Headers[name] = client.Reset[string]()
	}
	secret, err := f.changeSecrets(&d)
	if err != nil || !changed && !secret {
		return nil, err
	}
	return &d, nil
}

// changeSecrets sets what the flags say about credentials and certificates. It reports
// whether they say anything.
func (f *subscriptionFields) changeSecrets(d *client.DeliveryChange) (changed bool, err error) {
	credentials, err := namedValues("--credential", f.credentials)
	if err != nil {
		return false, err
	}
	tls, err := readNamed[client.WebhookTLS]("--tls", f.tls)
	if err != nil {
		return false, err
	}
	oauth2, err := readNamed[client.WebhookOAuth2]("--oauth2", f.oauth2)
	if err != nil {
		return false, err
	}
	for flag, both := range map[string]bool{
		"credential": len(credentials) > 0 && f.withoutCredentials, "tls": tls != nil && f.withoutTLS, "oauth2": oauth2 != nil && f.withoutOAuth2,
	} {
		if both {
			return false, usagef("specify --%s or the flag that removes it, not both", flag)
		}
	}
	switch {
	case len(credentials) > 0:
		d.Credentials, changed = client.To(credentials), true
	case f.withoutCredentials:
		d.Credentials, changed = client.Reset[map[string]string](), true
	}
	switch {
	case tls != nil:
		d.TLS, changed = client.To(*tls), true
	case f.withoutTLS:
		d.TLS, changed = client.Reset[client.WebhookTLS](), true
	}
	switch {
	case oauth2 != nil:
		d.OAuth2, changed = client.To(*oauth2), true
	case f.withoutOAuth2:
		d.OAuth2, changed = client.Reset[client.WebhookOAuth2](), true
	}
	return changed, nil
}

// readNamed reads the values of a repeated flag into the members of T; nil if there are none.
func readNamed[T any](flag string, list []string) (*T, error) {
	values, err := namedValues(flag, list)
	if err != nil || len(values) == 0 {
		return nil, err
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	v := new(T)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return nil, usagef("%s: %s is not a known name; see --help", flag, strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return v, nil
}

// waits is what --retry-schedule says; nil means the schedule of the service.
func (f *subscriptionFields) waits() (waits []client.Duration, err error) {
	if slices.Equal(f.retries, []string{"default"}) {
		return nil, nil
	}
	for _, text := range f.retries {
		wait, err := feedmill.ParseDuration(text)
		if err != nil {
			return nil, usagef("--retry-schedule: %v", err)
		}
		waits = append(waits, client.Duration(wait))
	}
	return waits, nil
}

// patience is what --disable-after says.
func (f *subscriptionFields) patience() (d client.DisableAfter, err error) {
	if f.disableAfter == "" {
		return 0, nil
	}
	if err := d.UnmarshalText([]byte(f.disableAfter)); err != nil {
		return 0, usagef("--disable-after: %v", err)
	}
	return d, nil
}

func orReset(value string) client.Field[string] {
	if value == "" {
		return client.Reset[string]()
	}
	return client.To(value)
}

// certificatesText lists the certificates of a webhook.
func certificatesText(t *client.WebhookTLS) string {
	var all []string
	if t != nil && t.CACert != "" {
		all = append(all, "caCert")
	}
	if t != nil && t.ClientCert != "" {
		all = append(all, "clientCert")
	}
	return strings.Join(all, ", ")
}

// tokensText is where the access tokens of a webhook come from.
func tokensText(o *client.WebhookOAuth2) string {
	if o == nil {
		return ""
	}
	return o.TokenURL
}
