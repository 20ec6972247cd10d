package webhook

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVerifiedEvent(t *testing.T) {
	const numbers = `{"id":"evt_2","type":"tag.deleted","timestamp":"2026-11-15T12:00:00.123Z","resourceId":null,"data":{"n":9007199254740993,"m":1e400},"new":1}`
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		payload, attempt string
		want             Event
	}{
		{testPayload, "3", Event{ID: "evt_1", Type: "metric.created", Timestamp: at, ResourceID: "m_1", Data: json.RawMessage(`{"value":42}`), Attempt: 3}},
		{numbers, "", Event{ID: "evt_2", Type: "tag.deleted", Timestamp: at.Add(123 * time.Millisecond), Data: json.RawMessage(`{"n":9007199254740993,"m":1e400}`)}},
		{testPayload, "-1", Event{ID: "evt_1", Type: "metric.created", Timestamp: at, ResourceID: "m_1", Data: json.RawMessage(`{"value":42}`)}},
		{testPayload, "99999999999999999999", Event{ID: "evt_1", Type: "metric.created", Timestamp: at, ResourceID: "m_1", Data: json.RawMessage(`{"value":42}`)}},
	} {
		h := signed(t, time.Now(), c.payload, oldSecret)
		h.Set(headerAttempt, c.attempt)
		c.want.Delivery, c.want.Payload = testDelivery, []byte(c.payload)
		got, err := mustNew(t, oldSecret).VerifyPayload([]byte(c.payload), h)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

func TestSignedPayloadThatIsNoEvent(t *testing.T) {
	for _, payload := range []string{
		``, `null`, `[]`, `"x"`, `{`, `{}`,
		`{"id":"","type":"a.b","timestamp":"2026-11-15T12:00:00Z","data":{}}`,
		`{"id":"evt_1","timestamp":"2026-11-15T12:00:00Z","data":{}}`,
		`{"id":"evt_1","type":"a.b","data":{}}`,
		`{"id":"evt_1","type":"a.b","timestamp":"yesterday","data":{}}`,
		`{"id":"evt_1","type":"a.b","timestamp":"2026-11-15T12:00:00Z"}`,
		`{"id":1,"type":"a.b","timestamp":"2026-11-15T12:00:00Z","data":{}}`,
		testPayload + "{}",
	} {
		h := signed(t, time.Now(), payload, oldSecret)
		if e, err := mustNew(t, oldSecret).VerifyPayload([]byte(payload), h); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v, want ErrMalformed", payload, e, err)
		}
	}
}
