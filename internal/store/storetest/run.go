package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/feedmill/feedmill"
)

// Engine is a kind of store under test.
type Engine struct {
	// Name is the engine's, and part of every test's name.
	Name string
	// Make makes an empty store and returns how to open it. Every call of
	// open is a new handle on the same store, as a restart or a second
	// replica has it; the handle is closed with the test.
	Make func(t *testing.T, o feedmill.StoreOptions) (open func(t *testing.T) Store)
	// Shared says that several handles may be open at once.
	Shared bool
}

// Run runs the whole suite on an engine.
func Run(t *testing.T, e Engine) {
	t.Run(e.Name, func(t *testing.T) {
		for _, group := range []struct {
			name  string
			cases []testCase
		}{
			{"workspaces", workspaceCases},
			{"deletions", deletionCases},
			{"keys", keyCases},
			{"sessions", sessionCases},
			{"sign-ins", signInCases},
			{"once", onceCases},
			{"audit", auditCases},
			{"vault", vaultCases},
			{"processes", processCases},
			{"leases", leaseCases},
			{"feeds", feedCases},
			{"lists of feeds", feedLists},
			{"versions", versionCases},
			{"versions that are kept", keepCases},
			{"table names", tableNameCases},
			{"tables", tableCases},
			{"files of versions", filesCases},
			{"unreferenced files", unreferencedCases},
			{"objects", objectCases},
			{"moves of files", moveCases},
			{"backups", backupCases},
			{"sums of files", sumsCases},
			{"links", linkCases},
			{"portal links", portalLinkCases},
			{"handles", handleCases},
			{"refreshes", refreshCases},
			{"sources", sourceCases},
			{"source changes", sourceChangeCases},
			{"source changes at once", sourceAloneCases},
			{"parents of feeds", parentCases},
			{"due sources", dueSourceCases},
			{"traces", traceCases},
			{"connections", connectionCases},
			{"SQL views", sqlViewCases},
			{"subscriptions", subscriptionCases},
			{"quotas", quotaCases},
			{"listeners", listenerCases},
			{"matching", matchCases},
			{"events", eventCases},
			{"filters", filterCases},
			{"fan-outs", slices.Concat(fanoutCases, manyMatchCases, fanoutTurnCases)},
			{"deliveries", deliveryCases},
			{"counts of deliveries", deliveryCountCases},
			{"due", dueCases},
			{"settle", slices.Concat(settleCases, settleAgainCases)},
			{"retries", retryCases},
			{"replays", replayCases},
			{"slots", slotCases},
			{"permits", permitCases},
			{"previews", bodyCases},
			{"stages", stageCases},
			{"rate limits", rateLimitCases},
			{"consent", consentCases},
			{"prune", pruneCases},
			{"lifecycle", lifecycleCases},
		} {
			t.Run(group.name, func(t *testing.T) {
				for _, c := range group.cases {
					t.Run(c.name, func(t *testing.T) {
						if c.shared && !e.Shared {
							t.Skipf("%s has one handle at a time", e.Name)
						}
						t.Parallel()
						made := new(offers)
						open := e.Make(t, feedmill.StoreOptions{Attempts: maxAttempts, Offer: made.add, Filter: openEvent})
						c.run(t, func(t *testing.T) Store { return &offeringStore{open(t), made} })
					})
				}
			})
		}
	})
}

// offeringStore is a store with what it has offered.
type offeringStore struct {
	Store
	*offers
}

type offers struct {
	mu  sync.Mutex
	due []feedmill.DueDelivery
}

func (o *offers) add(due []feedmill.DueDelivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.due = append(o.due, due...)
}

// offered takes what the handles of a store have offered since the last call.
func offered(s Store) (due []feedmill.DueDelivery) {
	o := s.(*offeringStore)
	o.mu.Lock()
	defer o.mu.Unlock()
	due, o.due = o.due, nil
	return due
}

type testCase struct {
	name   string
	shared bool
	run    func(t *testing.T, open func(t *testing.T) Store)
}

// now is a moment as records keep it: in UTC, to the millisecond.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error is %v, want %v", err, kind)
	}
}

// newWorkspace makes a workspace with a name of its own.
func newWorkspace(t *testing.T, s Store) feedmill.Workspace {
	t.Helper()
	id := feedmill.NewID(feedmill.PrefixWorkspace)
	w := feedmill.Workspace{ID: id, Name: "name of " + string(id), CreatedAt: now()}
	must(t, s.CreateWorkspace(t.Context(), w, nil))
	return w
}

func newKey(w feedmill.ID) feedmill.Key {
	return feedmill.Key{
		ID: feedmill.NewID(feedmill.PrefixKey), Workspace: w, Name: "a key",
		Scopes: []feedmill.Scope{feedmill.ScopeRead, feedmill.ScopeAdmin}, CreatedAt: now(),
		Hash: feedmill.HashKey(feedmill.NewKeySecret()),
	}
}

// equal reports how got differs. No and empty lists are the same, and so are
// the due times of deliveries that have ended.
func equal[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	ended := cmp.Transformer("Ended", func(d feedmill.Delivery) endedDelivery {
		if !d.State.Open() {
			d.DueAt = time.Time{}
		}
		return endedDelivery(d)
	})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), ended); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

type endedDelivery feedmill.Delivery
