package subscribe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/webhook"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
	"github.com/feedmill/feedmill/internal/strictjson"
	"github.com/feedmill/feedmill/internal/vault"
)

// world is subscriptions on a real store and vault. What the API shows of them
// is tested there.
type world struct {
	*Subscriptions
	db        *sqlite.DB
	workspace feedmill.ID
	changed   []feedmill.ID
}

func newWorld(t *testing.T) *world {
	t.Helper()
	catalogue, err := feedmill.NewCatalogue(nil, nil)
	must(t, err)
	policy, err := egress.NewPolicy(nil)
	must(t, err)
	key, err := vault.LoadKey(strings.Repeat("k", vault.MinKeyLen), "")
	must(t, err)
	w := &world{db: sqlitetest.New(t), workspace: feedmill.NewID(feedmill.PrefixWorkspace)}
	safe, err := vault.Open(t.Context(), key, w.db)
	must(t, err)
	must(t, w.db.CreateWorkspace(t.Context(), feedmill.Workspace{ID: w.workspace, Name: "Test", CreatedAt: now()}, nil))
	w.Subscriptions = New(Options{
		Store: w.db, Vault: safe, Catalogue: catalogue, Kinds: []Kind{&webhook.Kind{URLs: policy}},
		Changed: func(id feedmill.ID) { w.changed = append(w.changed, id) },
	})
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create subscribes to events, given as JSON.
func (w *world) create(t *testing.T, events string, keep func([]feedmill.SubscribedHalf) (*feedmill.IdempotentResponse, error)) ([]feedmill.SubscribedHalf, error) {
	t.Helper()
	var faults feedmill.Faults
	body, ok := strictjson.Read([]byte(`{"url":"https://example.com/hook","events":`+events+`}`), strictjson.Part{}, faults.Note)
	if !ok {
		t.Fatal(faults.List)
	}
	return w.Create(t.Context(), w.workspace, strictjson.NewObject(&body, "", faults.Note), &faults, keep)
}

func (w *world) count(t *testing.T) int {
	t.Helper()
	subs, err := w.db.Subscriptions(t.Context(), w.workspace, feedmill.Page{Limit: 1000})
	must(t, err)
	return len(subs)
}

// What is kept is what was made, also where there was room for one half only.
func TestQuotaRefusesTheSecondHalf(t *testing.T) {
	w := newWorld(t)
	w.Max = 2
	_, err := w.create(t, `["tag.*"]`, keepNone)
	must(t, err)
	var kept []int
	halves, err := w.create(t, `["tag.created","datafeed.source.*","metric.*"]`, func(halves []feedmill.SubscribedHalf) (*feedmill.IdempotentResponse, error) {
		made := 0
		for _, h := range halves {
			if h.Refusal == nil {
				made++
			}
		}
		kept = append(kept, made)
		return nil, nil
	})
	must(t, err)
	if !slices.Equal(kept, []int{2, 1}) || w.count(t) != 2 {
		t.Errorf("kept %v, %d are there", kept, w.count(t))
	}
	first, second := halves[0], halves[1]
	if first.Refusal != nil || first.Made.SigningSecret == "" || !slices.Equal(first.Events, []string{"tag.created", "metric.*"}) {
		t.Errorf("the first half is %+v", first)
	}
	if second.Refusal == nil || second.Refusal.Type != "quota-reached" || second.Made.ID != "" || second.Made.SigningSecret != "" || !slices.Equal(second.Events, []string{"datafeed.source.*"}) {
		t.Errorf("the second half is %+v", second)
	}
	halves, err = w.create(t, `["tag.created","datafeed.source.*"]`, keepNone)
	if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Type != "quota-reached" || len(refusal.Faults) != 2 || w.count(t) != 2 {
		t.Errorf("%+v, %v", halves, err)
	}
}

func TestRequestsAtOnceDoNotPassTheQuota(t *testing.T) {
	w := newWorld(t)
	w.Max = 5
	var made atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			halves, err := w.create(t, `["tag.*","datafeed.source.*"]`, keepNone)
			if err != nil && !errors.Is(err, feedmill.ErrConflict) {
				t.Error(err)
			}
			for _, h := range halves {
				if err == nil && h.Refusal == nil {
					made.Add(1)
				}
			}
		})
	}
	group.Wait()
	if n := w.count(t); n != 5 || made.Load() != 5 {
		t.Errorf("%d are made and %d are there", made.Load(), n)
	}
}

// A response that cannot be kept leaves nothing behind.
func TestNothingIsMadeWithoutItsResponse(t *testing.T) {
	w := newWorld(t)
	broken := errors.New("broken")
	if _, err := w.create(t, `["tag.*"]`, func([]feedmill.SubscribedHalf) (*feedmill.IdempotentResponse, error) { return nil, broken }); !errors.Is(err, broken) || w.count(t) != 0 {
		t.Errorf("%v, and %d are there", err, w.count(t))
	}
	listen := func(keep func(feedmill.IssuedSubscription) (*feedmill.IdempotentResponse, error)) (feedmill.IssuedSubscription, error) {
		var faults feedmill.Faults
		v, _ := strictjson.Read([]byte(`{"events":["tag.*"]}`), strictjson.Part{}, faults.Note)
		return w.Listen(t.Context(), w.workspace, strictjson.NewObject(&v, "", faults.Note), &faults, keep)
	}
	for _, want := range []error{broken, nil} {
		made, err := listen(func(feedmill.IssuedSubscription) (*feedmill.IdempotentResponse, error) { return nil, want })
		_, found := w.db.Listener(t.Context(), w.workspace, made.ID)
		if !errors.Is(err, want) || (found == nil) != (want == nil) {
			t.Errorf("a listener whose response is kept with %v: %v, found with %v", want, err, found)
		}
	}
	halves, err := w.create(t, `["tag.*"]`, keepNone)
	must(t, err)
	sub := halves[0].Made
	if _, err := w.Rotate(t.Context(), w.workspace, sub.ID, time.Hour, func(feedmill.IssuedSubscription) (*feedmill.IdempotentResponse, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	after, err := w.db.Subscription(t.Context(), w.workspace, sub.ID)
	must(t, err)
	if !slices.Equal(after.Secrets, sub.Secrets) || len(w.changed) != 0 {
		t.Error("the secret is another")
	}
	rotated, err := w.Rotate(t.Context(), w.workspace, sub.ID, time.Hour, keepNone)
	must(t, err)
	if rotated.SigningSecret == sub.SigningSecret || rotated.OverlapUntil.IsZero() || !slices.Equal(w.changed, []feedmill.ID{sub.ID}) {
		t.Errorf("%+v, %v", rotated, w.changed)
	}
}

// keepNone is for requests without an idempotency key.
func keepNone[T any](T) (*feedmill.IdempotentResponse, error) { return nil, nil }

// * is both halves in a request for new subscriptions, and one in a definition that was exported.
func TestEveryEvent(t *testing.T) {
	w := newWorld(t)
	handled := feedmill.WithHandle(t.Context(), &feedmill.Handle{Workspace: w.workspace, Kind: feedmill.DefinedSubscription, Name: "all"})
	for _, c := range []struct {
		ctx  context.Context
		was  feedmill.Subscription
		want []string
	}{
		{t.Context(), feedmill.Subscription{}, []string{"datafeed.source.*", "*"}},
		{handled, feedmill.Subscription{}, []string{"*"}},
		{t.Context(), feedmill.Subscription{ID: "sub_1", Events: []string{"tag.*"}}, []string{"*"}},
		{t.Context(), feedmill.Subscription{ID: "sub_1", Events: []string{"datasource.deleted"}}, []string{"datafeed.source.*"}},
		{handled, feedmill.Subscription{ID: "sub_1", Events: []string{"datasource.deleted"}}, []string{"datafeed.source.*"}},
	} {
		var faults feedmill.Faults
		body, _ := strictjson.Read([]byte(`{"url":"https://example.com/hook","events":["*"]}`), strictjson.Part{}, faults.Note)
		f, err := w.readFields(c.ctx, strictjson.NewObject(&body, "", faults.Note), c.was, &faults)
		if err != nil || len(faults.List) > 0 || !slices.Equal(names(f.events), c.want) {
			t.Errorf("%v: %q, %v, %v, want %q", c.was.Events, names(f.events), faults.List, err, c.want)
		}
	}
}
