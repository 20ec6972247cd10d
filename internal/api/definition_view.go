package api

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

type connectionDefinition struct {
	ServiceName string         `json:"serviceName"`
	Connector   string         `json:"connector"`
	Config      jsontext.Value `json:"config"`
}

// sqlViewDefinition has the service of the connection and the SQL. Its label is the name.
type sqlViewDefinition struct {
	ServiceName string `json:"serviceName"`
	SQL         string `json:"sql"`
}

type subscriptionDefinition struct {
	URL           string                     `json:"url"`
	Events        []string                   `json:"events"`
	HTTPOperation string                     `json:"httpOperation,omitzero"`
	Filters       client.Filters             `json:"filters,omitzero"`
	Filter        string                     `json:"filter,omitzero"`
	Transform     string                     `json:"transform,omitzero"`
	Preset        string                     `json:"preset,omitzero"`
	State         feedmill.SubscriptionState `json:"state"`
	Delivery      deliveryDefinition         `json:"delivery"`
}

// deliveryDefinition has the delivery settings of a subscription. The retry schedule of the
// server is not part of it.
type deliveryDefinition struct {
	Timeout       client.Duration     `json:"timeout"`
	RateLimit     *client.RateLimit   `json:"rateLimit,omitzero"`
	Concurrency   int                 `json:"concurrency"`
	Ordered       bool                `json:"ordered"`
	RetrySchedule []client.Duration   `json:"retrySchedule,omitzero"`
	DisableAfter  client.DisableAfter `json:"disableAfter"`
	Headers       map[string]string   `json:"headers,omitzero"`
	Credentials   map[string]string   `json:"credentials,omitzero"`
	Batch         *client.Batch       `json:"batch,omitzero"`
}

func (s *Server) defineSubscription(sub feedmill.Subscription) subscriptionDefinition {
	v := s.viewSubscription(sub)
	d := subscriptionDefinition{
		URL: v.URL, Events: v.Events, HTTPOperation: v.HTTPOperation, Filters: v.Filters,
		Filter: v.Filter, Transform: v.Transform, Preset: v.Preset, State: v.State,
		Delivery: deliveryDefinition{
			Timeout: v.Delivery.Timeout, RateLimit: v.Delivery.RateLimit, Concurrency: v.Delivery.Concurrency, Ordered: v.Delivery.Ordered,
			DisableAfter: v.Delivery.DisableAfter, Batch: v.Delivery.Batch,
		},
	}
	if len(sub.Delivery.Retries) > 0 {
		d.Delivery.RetrySchedule = v.Delivery.RetrySchedule
	}
	if len(v.Delivery.Headers) > 0 {
		d.Delivery.Headers = v.Delivery.Headers
	}
	if len(v.Delivery.Credentials) > 0 {
		d.Delivery.Credentials = v.Delivery.Credentials
	}
	return d
}

// uploadResults are the members of an upload's source that describe its data, not its definition.
var uploadResults = []string{"file", "reading"}

// defineFeed returns the definition of a feed: the members of a request that creates it.
func defineFeed(f feedmill.Feed) jsontext.Value {
	policy, err := render(struct {
		Type         feedmill.FeedType `json:"type"`
		Description  string            `json:"description,omitzero"`
		TableName    string            `json:"tableName,omitzero"`
		Keep         keepView          `json:"keep"`
		SchemaPolicy string            `json:"schemaPolicy"`
		ExpectEvery  *string           `json:"expectEvery,omitzero"`
		Expect       *expectView       `json:"expect,omitzero"`
	}{
		f.Type, f.Description, f.TableName, viewKeep(f.Keep), viewFeed(f).SchemaPolicy, viewEvery(f.Expects.Every), viewExpect(f.Expects.Rows),
	})
	if err != nil {
		panic(err) // texts and numbers
	}
	ignore := func(string, string) bool { return true }
	definition, _ := strictjson.Read(policy, strictjson.Part{}, ignore)
	if !f.Type.HasSource() {
		definition.Set("mode", strictjson.String(string(f.Mode)))
		key := strictjson.Value{Kind: '['}
		for _, name := range f.Key {
			key.Items = append(key.Items, strictjson.String(name))
		}
		definition.Set("key", key)
	}
	source, _ := strictjson.Read(f.Spec, strictjson.Part{}, ignore)
	for _, m := range source.Members {
		if f.Type.HasSource() || !slices.Contains(uploadResults, m.Name) {
			definition.Set(m.Name, m.Value)
		}
	}
	return definition.Append(nil)
}
