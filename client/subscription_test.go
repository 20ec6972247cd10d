package client_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func TestAnswersToACreation(t *testing.T) {
	sub := func(id string) client.Subscription { return client.Subscription{ID: id, SigningSecret: "whsec_" + id} }
	for _, test := range []struct {
		name   string
		answer answer
		want   client.CreatedSubscriptions
	}{
		{
			"one",
			answer{status: 201, body: `{"meta":{"url":"/x"},"data":{"id":"a","signingSecret":"whsec_a"}}`},
			client.CreatedSubscriptions{Created: []client.Subscription{sub("a")}},
		},
		{
			"two",
			answer{status: 201, body: ` [{"id":"a","signingSecret":"whsec_a"},{"id":"b","signingSecret":"whsec_b"}]`},
			client.CreatedSubscriptions{Created: []client.Subscription{sub("a"), sub("b")}},
		},
		{
			"one of two",
			answer{status: 207, body: `{"created":[{"id":"b","signingSecret":"whsec_b"}],"errors":[{"events":["goal.missed"],"status":409,"message":"Not yet."}]}`},
			client.CreatedSubscriptions{
				Created: []client.Subscription{sub("b")},
				Failed:  []client.SubscriptionFailure{{Events: []string{"goal.missed"}, Status: 409, Message: "Not yet."}},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := over(test.answer)
			got, err := c.CreateSubscription(t.Context(), client.NewSubscription{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what was made (-want +got):\n%s", diff)
			}
		})
	}
	c, _ := over(answer{status: 201, body: `["what"]`})
	if _, err := c.CreateSubscription(t.Context(), client.NewSubscription{}); err == nil || !strings.Contains(err.Error(), "the response cannot be read") {
		t.Errorf("the error is %v", err)
	}
}

// What a change or a new subscription says is what stands in it and no more.
func TestWhatIsLeftOut(t *testing.T) {
	for _, test := range []struct {
		name string
		in   any
		want string
	}{
		{"nothing", client.SubscriptionChange{}, `{}`},
		{
			"values",
			client.SubscriptionChange{
				Name: client.To(""), State: feedmill.SubscriptionPaused, Filters: client.To(client.Filters{ResourceID: "m_1"}),
				Delivery: client.To(client.DeliveryChange{Ordered: client.To(false), RateLimit: client.To(client.RateLimit{Requests: 5})}),
			},
			`{"name":"","filters":{"resourceId":"m_1"},"state":"paused","delivery":{"rateLimit":{"requests":5},"ordered":false}}`,
		},
		{
			"defaults",
			client.SubscriptionChange{
				Name: client.Reset[string](), Filters: client.Reset[client.Filters](),
				Delivery: client.To(client.DeliveryChange{
					Timeout: client.Reset[client.Duration](), Headers: map[string]client.Field[string]{"a": client.To("1"), "b": client.Reset[string]()},
				}),
			},
			`{"name":null,"filters":null,"delivery":{"timeout":null,"headers":{"a":"1","b":null}}}`,
		},
		{"a new one", client.NewSubscription{URL: "u", Events: []string{"tag.*"}}, `{"url":"u","events":["tag.*"]}`},
		{
			"a new one with settings",
			client.NewSubscription{URL: "u", Events: []string{"tag.*"}, Delivery: client.NewDelivery{
				Timeout: client.Duration(90 * time.Second), RateLimit: &client.RateLimit{Requests: 5, Per: client.Duration(time.Minute)},
			}},
			`{"url":"u","events":["tag.*"],"delivery":{"timeout":"90s","rateLimit":{"requests":5,"per":"1m"}}}`,
		},
		{"a new event", client.NewEvent{Type: "tag.created"}, `{"type":"tag.created"}`},
		{
			"a new event with all",
			client.NewEvent{ID: "1", Type: "tag.created", Timestamp: time.Unix(0, 0).UTC(), ResourceID: "t", Data: []int{}},
			`{"id":"1","type":"tag.created","timestamp":"1970-01-01T00:00:00Z","resourceId":"t","data":[]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := json.Marshal(test.in)
			if err != nil || string(got) != test.want {
				t.Errorf("the JSON is\n%s (%v), want\n%s", got, err, test.want)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	var d client.Duration
	if err := json.Unmarshal([]byte(`"7d"`), &d); err != nil || d != client.Duration(7*24*time.Hour) {
		t.Errorf("7d is %v (%v)", d, err)
	}
	if err := json.Unmarshal([]byte(`"soon"`), &d); err == nil {
		t.Error("soon is a duration")
	}
	if _, err := json.Marshal(client.Duration(-1)); err == nil {
		t.Error("a negative duration can be sent")
	}
	if got := client.Milliseconds(1.234).Duration(); got != 1234*time.Microsecond {
		t.Errorf("1.234 ms are %v", got)
	}
}
