package openapi

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/feedmill/feedmill"
)

// addWebhooks adds an entry to the webhooks section for every built-in event type and for the
// test event. What the entries share is in webhooks.yaml. Payloads are not components because
// oapi-codegen drops components that only webhooks refer to.
func addWebhooks(doc map[string]any) error {
	shared, err := read(files, "webhooks.yaml")
	if err != nil {
		return err
	}
	catalogue, err := feedmill.NewCatalogue(nil, nil)
	if err != nil {
		return err
	}
	types := append(catalogue.Types(), feedmill.EventType{
		Name: "test.ping", Description: "A test that you sent to a subscription. No delivery is stored for it.",
		Schema: []byte(`{"type": "object", "description": "An empty object."}`),
	})
	webhooks := make(map[string]any, len(types))
	for _, t := range types {
		operation := maps.Clone(shared["operation"].(map[string]any))
		operation["operationId"], operation["summary"], operation["description"] = "receive"+camel(t.Name), t.Name, t.Description
		schema, err := payload(t, shared["payload"].(map[string]any))
		if err != nil {
			return err
		}
		operation["requestBody"] = map[string]any{
			"required": true,
			"content":  map[string]any{"application/json": map[string]any{"schema": schema}},
		}
		webhooks[t.Name] = map[string]any{"post": operation}
	}
	doc["webhooks"] = webhooks
	return nil
}

// payload is the schema of the payload of an event type.
func payload(t feedmill.EventType, shared map[string]any) (map[string]any, error) {
	var data map[string]any
	if err := json.Unmarshal(t.Schema, &data); err != nil {
		return nil, err
	}
	schema, members := maps.Clone(shared), maps.Clone(shared["properties"].(map[string]any))
	members["type"], members["data"] = map[string]any{"type": "string", "const": t.Name}, data
	schema["properties"] = members
	return schema, nil
}

// camel is the name of an event type as a part of an identifier: "goal.missed" is "GoalMissed".
func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
