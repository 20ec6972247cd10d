package feedmill

import (
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/jstext"
)

func TestRenderPayload(t *testing.T) {
	at := time.Date(2026, 11, 15, 13, 0, 0, 123_999_999, time.FixedZone("", 3600))
	for _, c := range []struct {
		event      Event
		data, want string
	}{
		{
			Event{ID: "evt_1", Type: "metric.created", Timestamp: at, ResourceID: `m"1`},
			` {"b":1.50, "1":"\u0041"} `,
			`{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.123Z","resourceId":"m\"1","data":{"1":"A","b":1.5}}`,
		},
		{
			Event{ID: "evt_2", Type: "tag.deleted", Timestamp: at},
			"",
			`{"id":"evt_2","type":"tag.deleted","timestamp":"2026-11-15T12:00:00.123Z","resourceId":null,"data":{}}`,
		},
		{
			Event{ID: "evt_3", Type: "tag.deleted", Timestamp: at},
			"0",
			`{"id":"evt_3","type":"tag.deleted","timestamp":"2026-11-15T12:00:00.123Z","resourceId":null,"data":0}`,
		},
	} {
		if got, err := RenderPayload(c.event, []byte(c.data)); err != nil || string(got) != c.want {
			t.Errorf("%s, %v\nwant %s", got, err, c.want)
		}
	}
	var fault *jstext.Error
	if text, err := RenderPayload(Event{}, []byte(`{"a":[}`)); !errors.As(err, &fault) || fault.Pointer != "/a/0" || text != nil {
		t.Errorf("of data that is no JSON: %s, %v", text, err)
	}
}

func TestFamily(t *testing.T) {
	for name, want := range map[string]string{"metric.created": "metric", "a.b.c": "a.b", "metric": "", "": "", ".x": ""} {
		if got := Family(name); got != want {
			t.Errorf("%q is of the family %q, want %q", name, got, want)
		}
	}
}

func TestEventMatch(t *testing.T) {
	const source, feed = ID("ds_0"), ID("df_0")
	for _, c := range []struct {
		event                    Event
		name, wildcard, resource string
	}{
		{Event{Type: "metric.created", ResourceID: "m_1"}, "metric.created", "metric.*", "m_1"},
		{Event{Type: "metric.created"}, "metric.created", "metric.*", ""},
		{Event{Type: "billing.invoice.sent"}, "billing.invoice.sent", "billing.invoice.*", ""},
		{
			Event{Type: "datafeed.source.refreshed", ResourceID: string(feed), Source: source},
			internalFamily + ".refreshed", internalFamily + ".*", InternalFilter(source, feed),
		},
	} {
		if name, wildcard, resource := c.event.Match(); name != c.name || wildcard != c.wildcard || resource != c.resource {
			t.Errorf("%s matches %q, %q, %q, want %q, %q, %q", c.event.Type, name, wildcard, resource, c.name, c.wildcard, c.resource)
		}
	}
}

func TestEventsThatFit(t *testing.T) {
	events := []Event{{Payload: make([]byte, 10)}, {Payload: make([]byte, 10)}, {Payload: make([]byte, 10)}}
	for most, want := range map[int]int{0: 3, 1: 1, 10: 1, 11: 2, 20: 2, 21: 3, 100: 3} {
		if got := (EventQuery{MaxBytes: most}).Fit(events); got != want {
			t.Errorf("%d events fit into %d bytes, want %d", got, most, want)
		}
	}
}
