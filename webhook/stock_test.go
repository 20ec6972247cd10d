package webhook

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	stock "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The library of Standard Webhooks takes what Sign makes, also in the middle of
// a rotation, and what it makes is verified here.
func TestStockLibrary(t *testing.T) {
	library, err := stock.NewWebhook(newSecret)
	if err != nil {
		t.Fatal(err)
	}
	for _, secrets := range [][]string{{newSecret}, {newSecret, oldSecret}, {oldSecret, newSecret}} {
		h := signed(t, time.Now(), testPayload, secrets...)
		if err := library.Verify([]byte(testPayload), h); err != nil {
			t.Errorf("signed with %d secrets: %v", len(secrets), err)
		}
		if err := library.Verify([]byte(testPayload+" "), h); err == nil {
			t.Error("another payload is accepted")
		}
	}

	now := time.Now()
	signature, err := library.Sign(testDelivery, now, []byte(testPayload))
	if err != nil {
		t.Fatal(err)
	}
	h := signed(t, now, testPayload, otherSecret)
	h.Set(stock.HeaderWebhookSignature, signature)
	for _, secrets := range [][]string{{newSecret}, {oldSecret, newSecret}} {
		if _, err := mustNew(t, secrets...).VerifyPayload([]byte(testPayload), h); err != nil {
			t.Errorf("verified with %d secrets: %v", len(secrets), err)
		}
	}
	if _, err := mustNew(t, oldSecret).VerifyPayload([]byte(testPayload), h); err == nil {
		t.Error("another secret is accepted")
	}
}

// Whatever the headers are, what is verified here the library verifies too. The
// reverse holds where they have the form that they are sent in: the library
// reads a timestamp as a number and an entry up to its second comma, where this
// package takes both as they stand.
func FuzzVerify(f *testing.F) {
	library, err := stock.NewWebhook(oldSecret)
	if err != nil {
		f.Fatal(err)
	}
	v := mustNew(f, oldSecret)
	v.Tolerance = -1
	h := signed(f, time.Unix(1614265330, 0), testPayload, newSecret, oldSecret)
	f.Add(testDelivery, h.Get(headerTimestamp), h.Get(headerSignature), testPayload)
	f.Add(testDelivery, "0"+h.Get(headerTimestamp), h.Get(headerSignature), testPayload)
	f.Add("", "", "", "")
	f.Add("dlv_1", "1", "v1,", "{}")
	f.Add("dlv_1", "-1", "v1 v1,a,b  ,,", "{}")
	f.Fuzz(func(t *testing.T, id, timestamp, signatures, payload string) {
		h := http.Header{headerID: {id}, headerTimestamp: {timestamp}, headerSignature: {signatures}}
		_, ours := v.verify([]byte(payload), h)
		theirs := library.VerifyIgnoringTimestamp([]byte(payload), h)
		if ours == nil && theirs != nil {
			t.Errorf("accepted here and refused by the library: %v", theirs)
		}
		seconds, err := strconv.ParseInt(timestamp, 10, 64)
		odd := slices.ContainsFunc(strings.Split(signatures, " "), func(entry string) bool { return strings.Count(entry, ",") > 1 })
		asSent := err == nil && strconv.FormatInt(seconds, 10) == timestamp && !odd
		if asSent && theirs == nil && ours != nil {
			t.Errorf("accepted by the library and refused here: %v", ours)
		}
	})
}
