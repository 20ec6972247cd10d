package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill/webhook"
)

const (
	secret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	payload = `{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_1","data":{"value":42}}`
)

// send plays Feedmill: it makes a signed request to a handler.
func send(h http.Handler, v *webhook.Verifier, delivery string) int {
	r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(payload))
	v.Sign(r.Header, delivery, time.Now(), []byte(payload))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func Example() {
	verifier, err := webhook.New(secret)
	if err != nil {
		panic(err)
	}
	hook := &webhook.Handler{
		Verifier: verifier,
		Handle: func(_ context.Context, e webhook.Event) error {
			fmt.Println(e.Type, e.ResourceID, string(e.Data))
			return nil
		},
	}
	fmt.Println(send(hook, verifier, "dlv_1"))
	// Output:
	// metric.created m_1 {"value":42}
	// 204
}

// A verifier with the old secret and the new one takes what either has signed.
func ExampleNew_rotation() {
	const next = "whsec_mWh0Yf0nSa4PiMyXGJXMTEvXIQoQdyQ0VWzWCgqqcnA="
	verifier, err := webhook.New(secret, next)
	if err != nil {
		panic(err)
	}
	for _, signer := range []string{secret, next, "whsec_c29tZXRoaW5nIGVsc2U="} {
		feedmill, err := webhook.New(signer)
		if err != nil {
			panic(err)
		}
		h := make(http.Header)
		feedmill.Sign(h, "dlv_1", time.Now(), []byte(payload))
		_, err = verifier.VerifyPayload([]byte(payload), h)
		fmt.Println(err == nil, errors.Is(err, webhook.ErrSignature))
	}
	// Output:
	// true false
	// true false
	// false true
}

// What a Handle function returns decides the answer.
func ExampleHandler() {
	verifier, err := webhook.New(secret)
	if err != nil {
		panic(err)
	}
	for _, answer := range []error{
		nil,
		errors.New("the disk is full"),
		fmt.Errorf("the database is being moved: %w", webhook.RetryAfter(10*time.Minute)),
		webhook.ErrGone,
	} {
		hook := &webhook.Handler{
			Verifier: verifier,
			Handle:   func(context.Context, webhook.Event) error { return answer },
		}
		fmt.Println(send(hook, verifier, "dlv_1"))
	}
	// Output:
	// 204
	// 500
	// 503
	// 410
}

// A delivery that comes twice is answered twice and handled once. Here a map
// remembers the deliveries; where it matters, it is a table with a unique
// column, written in the transaction of the work itself.
func ExampleHandler_duplicates() {
	verifier, err := webhook.New(secret)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	done := make(map[string]bool)
	hook := &webhook.Handler{
		Verifier: verifier,
		Handle: func(_ context.Context, e webhook.Event) error {
			mu.Lock()
			defer mu.Unlock()
			if done[e.Delivery] {
				return nil
			}
			fmt.Println("counting", e.ID)
			done[e.Delivery] = true
			return nil
		},
	}
	fmt.Println(send(hook, verifier, "dlv_1"))
	fmt.Println(send(hook, verifier, "dlv_1"))
	// Output:
	// counting evt_1
	// 204
	// 204
}

// With a framework of one's own: verify the request, and give the answer.
func ExampleVerifier_Verify() {
	verifier, err := webhook.New(secret)
	if err != nil {
		panic(err)
	}
	hook := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e, err := verifier.Verify(r)
		if err != nil {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		fmt.Println(e.Delivery, e.Type)
		w.WriteHeader(http.StatusAccepted)
	})
	fmt.Println(send(hook, verifier, "dlv_1"))
	// Output:
	// dlv_1 metric.created
	// 202
}
