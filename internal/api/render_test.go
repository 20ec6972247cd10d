package api

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// The types of package client are written as the API promises: times in UTC with milliseconds,
// null for none, and empty lists for nil.
func TestRender(t *testing.T) {
	at := time.Date(2026, 11, 15, 13, 0, 0, 120_900_000, time.FixedZone("", 3600))
	for _, test := range []struct {
		record any
		want   string
	}{
		{client.Workspace{ID: "ws_1", Name: "a\xff", CreatedAt: at}, `{"id":"ws_1","name":"a` + "\ufffd" + `","createdAt":"2026-11-15T12:00:00.120Z"}`},
		{client.Session{ExpiresAt: at}, `{"expiresAt":"2026-11-15T12:00:00.120Z","idleUntil":null}`},
		{&client.DeliveryWait{Reason: "time", Until: at}, `{"reason":"time","until":"2026-11-15T12:00:00.120Z"}`},
		{&client.DeliveryWait{Reason: "turn"}, `{"reason":"turn"}`},
		{client.AuditEntry{At: at, Actor: client.Actor{Name: "n"}}, `{"id":"","at":"2026-11-15T12:00:00.120Z","actor":{"name":"n"},"action":"","resource":"","fields":[],"address":"","requestId":""}`},
		{client.Timing{DNS: 0.5, Total: 1234.567}, `{"dnsMs":0.5,"connectMs":0,"tlsMs":0,"firstByteMs":0,"totalMs":1234.567}`},
		{map[string]any{"b": at, "a": []time.Time{{}}}, `{"a":[null],"b":"2026-11-15T12:00:00.120Z"}`},
	} {
		got, err := render(test.record)
		if err != nil || string(got) != test.want {
			t.Errorf("%+v is %s, %v; want %s", test.record, got, err, test.want)
		}
	}
}
