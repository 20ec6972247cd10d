package deliver

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

func TestNothingIsSentToAListener(t *testing.T) {
	runDispatcher(t, Options{}, slow(0), func(h *harness) {
		secrets, err := json.Marshal(feedmill.SigningSecrets{Current: feedmill.NewSigningSecret()})
		h.must(err)
		now := time.Now()
		listener := feedmill.Subscription{
			ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: h.ws, Destination: feedmill.Destination{Kind: feedmill.DestinationListener, Method: "POST"}, Events: []string{"metric.*"},
			State: feedmill.SubscriptionActive, Secrets: secrets, CreatedAt: now, UpdatedAt: now, ListenUntil: now.Add(time.Hour),
		}
		h.must(h.store.CreateSubscriptions(h.Context(), []feedmill.Subscription{listener}, 0, nil))
		due := h.accept(20, "")
		h.dispatcher.Offer(due[:10])
		time.Sleep(10 * time.Minute)
		if sent, read := h.sentSince(time.Time{}), h.store.reads.Load(); sent > 0 || read > 0 {
			h.Errorf("%d attempts were made and its deliveries were read %d times, want neither", sent, read)
		}
		if n := h.store.targets.Load(); n > 10*int64(time.Minute/heldAge)+1 {
			h.Errorf("it was read %d times in ten minutes, want once every %v", n, heldAge)
		}
		for _, d := range due {
			got, err := h.store.Delivery(h.Context(), h.ws, d.ID)
			h.must(err)
			if got.State != feedmill.DeliveryPending || got.Attempts != 0 {
				h.Fatalf("a delivery is %s after %d attempts, want pending", got.State, got.Attempts)
			}
		}
	})
}

func TestHeadersAreThoseOfEveryAttempt(t *testing.T) {
	secret := feedmill.NewSigningSecret()
	secrets, err := json.Marshal(feedmill.SigningSecrets{Current: secret})
	if err != nil {
		t.Fatal(err)
	}
	sub := feedmill.Subscription{ID: feedmill.NewID(feedmill.PrefixSubscription), ListenUntil: time.Now(), Secrets: secrets}
	headers, err := New(Options{UserAgent: "Feedmill/test", Vault: plainVault{}, Metrics: prometheus.NewRegistry()}).Headers(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	d := feedmill.DueDelivery{Delivery: feedmill.Delivery{ID: "dlv_1", Type: "metric.created", Attempts: 2}, Payload: []byte(`{"a":1}`)}
	got := headers(d, time.Unix(1700000000, 0), false)
	sign := signers.New().(*signer)
	sign.use(secret)
	for name, want := range map[string]string{
		"content-type": "application/json", "user-agent": "Feedmill/test",
		"x-service-event": "metric.created", "x-service-delivery": "dlv_1", "x-service-attempt": "3",
		"webhook-id": "dlv_1", "webhook-timestamp": "1700000000",
		"x-service-signature": sign.service(d.Payload), "webhook-signature": sign.standard("dlv_1", "1700000000", d.Payload),
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("there are headers that a webhook does not have: %q", got)
	}
}

func TestHeadersNeedTheSecrets(t *testing.T) {
	headers, err := New(Options{Vault: plainVault{}, Metrics: prometheus.NewRegistry()}).Headers(t.Context(), feedmill.Subscription{Secrets: []byte("not JSON")})
	if err == nil || headers != nil {
		t.Errorf("there are headers without a secret, %v", err)
	}
}

// A row of a later release may have a kind that this one does not know. Nothing is sent to
// it, and none of its deliveries is lost.
func TestUnknownKindIsLeftAlone(t *testing.T) {
	runDispatcher(t, Options{}, slow(0), func(h *harness) {
		known := h.subscribe(feedmill.DeliverySettings{})
		unknown := h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.Destination.Kind = "pigeon" })
		h.dispatcher.Offer(h.accept(3, ""))
		time.Sleep(time.Minute)
		for sub, state := range map[feedmill.ID]feedmill.DeliveryState{known: feedmill.DeliveryDelivered, unknown: feedmill.DeliveryPending} {
			all, err := h.store.Deliveries(h.Context(), h.ws, feedmill.DeliveryQuery{Subscription: sub, Page: feedmill.Page{Limit: 10}})
			h.must(err)
			if len(all) != 3 || all[0].State != state || all[2].State != state {
				h.Errorf("the deliveries of %s are %+v, want %s", sub, all, state)
			}
		}
	})
}
