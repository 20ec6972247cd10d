package feedmill

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func newCatalogue(t *testing.T, extra []EventType, turnOn ...string) *Catalogue {
	t.Helper()
	c, err := NewCatalogue(extra, turnOn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBuiltInTypes(t *testing.T) {
	want := map[string][]string{
		"metric.*":          {"created", "updated", "deleted", "refreshed"},
		"dashboard.*":       {"created", "updated", "deleted", "shared"},
		"tag.*":             {"created", "updated", "deleted"},
		"goal.*":            {"created", "updated", "deleted", "achieved", "missed"},
		"datafeed.source.*": {"created", "updated", "refreshed", "refresh_failed", "paused", "stale", "resumed", "auth_required", "deleted"},
		"subscription.*":    {"disabling_soon", "disabled"},
	}
	var order []string
	got := make(map[string][]string)
	for _, e := range newCatalogue(t, nil).Types() {
		if !slices.Contains(order, e.Family) {
			order = append(order, e.Family)
		}
		got[e.Family] = append(got[e.Family], strings.TrimPrefix(e.Name, strings.TrimSuffix(e.Family, "*")))
		if e.Available == (e.Family == "goal.*") {
			t.Errorf("%s: available is %v", e.Name, e.Available)
		}
		if e.Operational != (e.Family == "subscription.*") {
			t.Errorf("%s: operational is %v", e.Name, e.Operational)
		}
		if e.Description == "" || Family(e.Name)+".*" != e.Family {
			t.Errorf("%s is described %q, of family %q", e.Name, e.Description, e.Family)
		}
		var schema struct {
			Type       string         `json:"type"`
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(e.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Properties) == 0 {
			t.Errorf("%s: the schema %s says nothing (%v)", e.Name, e.Schema, err)
		}
	}
	if !slices.Equal(order, []string{"metric.*", "dashboard.*", "tag.*", "goal.*", "datafeed.source.*", "subscription.*"}) {
		t.Errorf("families come as %q", order)
	}
	for family, types := range want {
		if !slices.Equal(got[family], types) {
			t.Errorf("%s has %q, want %q", family, got[family], types)
		}
	}
}

func TestCheckSubscribed(t *testing.T) {
	c := newCatalogue(t, []EventType{{Name: "order.paid"}, {Name: "billing.invoice.sent"}})
	for _, test := range []struct {
		name string
		kind error
		text string // must be part of the refusal
	}{
		{"metric.created", nil, ""},
		{"metric.*", nil, ""},
		{"datafeed.source.refreshed", nil, ""},
		{"datafeed.source.*", nil, ""},
		{"subscription.disabled", nil, ""},
		{"subscription.*", nil, ""},
		{"order.paid", nil, ""},
		{"order.*", nil, ""},
		{"billing.invoice.*", nil, ""},
		{"goal.created", ErrConflict, "not available. Ask"},
		{"goal.*", ErrConflict, "not available. Ask"},
		{"metric.craeted", ErrInvalid, "Did you mean metric.created"},
		{"metrics.*", ErrInvalid, "Did you mean metric.*"},
		{"datafeed.source.refresh", ErrInvalid, "Did you mean datafeed.source.refreshed"},
		{"datafeed.*", ErrInvalid, "Unknown event type."},
		{"billing.*", ErrInvalid, "Unknown event type."},
		{"datasource.refreshed", ErrInvalid, "Subscribe to datafeed.source.refreshed instead"},
		{"datasource.*", ErrInvalid, "Subscribe to datafeed.source.* instead"},
		{"datasource.nonsense", ErrInvalid, "Subscribe to datafeed.source.* instead"},
		{"datasource", ErrInvalid, "Subscribe to datafeed.source.* instead"},
		{"*", ErrInvalid, ""},
		{"*.created", ErrInvalid, ""},
		{"metric", ErrInvalid, ""},
		{"metric.", ErrInvalid, ""},
		{"tag.zzzzzzzzzzzz", ErrInvalid, "Unknown event type. Did you mean tag.created or tag.updated or tag.deleted? GET"},
		{"metric.zzzzzzzzzzzz", ErrInvalid, "Unknown event type. Did you mean metric.created or metric.updated or metric.deleted? GET"},
		{"billing.zzzzzzzzzzzz", ErrInvalid, "Unknown event type. Did you mean billing.invoice.sent or billing.invoice.*? GET"},
		{"zzzzzzzzzzzz.created", ErrInvalid, "Unknown event type. GET"},
		{".zzzzzzzzzzzz", ErrInvalid, "Unknown event type. GET"},
		{"datafeed", ErrInvalid, "Unknown event type. GET"},
		{"METRIC.CREATED", ErrInvalid, "Did you mean metric.created"},
		{"test.ping", ErrInvalid, ""},
		{"", ErrInvalid, ""},
		{strings.Repeat("x", 10_000), ErrInvalid, ""},
	} {
		err := c.CheckSubscribed(test.name)
		checkRefusal(t, test.name, err, test.kind, test.text)
	}
}

func TestCheckPublished(t *testing.T) {
	c := newCatalogue(t, []EventType{{Name: "order.paid"}})
	for _, test := range []struct {
		name string
		kind error
		text string
	}{
		{"metric.created", nil, ""},
		{"order.paid", nil, ""},
		{"goal.created", ErrConflict, "not available. Ask"},
		{"goal.*", ErrInvalid, "Unknown event type."},
		{"metric.*", ErrInvalid, "Unknown event type."},
		{"order.payed", ErrInvalid, "Did you mean order.paid? GET"},
		{"datasource.refreshed", ErrInvalid, "Only the service itself publishes"},
		{"datasource", ErrInvalid, "Only the service itself publishes"},
		{"datafeed.source.refreshed", ErrInvalid, "Only the service itself publishes"},
		{"datafeed.source.x.y", ErrInvalid, "Only the service itself publishes"},
		{"subscription.disabled", ErrInvalid, "Only the service itself publishes"},
		{"test.ping", ErrInvalid, "Only the service itself publishes"},
		{"datafeed.sources", ErrInvalid, "Unknown event type."},
		{".datasource", ErrInvalid, "Unknown event type."},
		{"", ErrInvalid, ""},
	} {
		checkRefusal(t, test.name, c.CheckPublished(test.name), test.kind, test.text)
	}
}

func checkRefusal(t *testing.T, name string, err, kind error, text string) {
	t.Helper()
	if kind == nil {
		if err != nil {
			t.Errorf("%.40q is refused: %v", name, err)
		}
		return
	}
	var refusal *Error
	if !errors.Is(err, kind) || !errors.As(err, &refusal) || !strings.Contains(refusal.Detail, text) || refusal.Type == "" {
		t.Errorf("%.40q: %v (%#v), want %v with %q", name, err, refusal, kind, text)
		return
	}
	if strings.Contains(refusal.Detail, internalFamily+".") {
		t.Errorf("%.40q: the refusal %q speaks of what is internal", name, refusal.Detail)
	}
}

func TestOperatorsFamilies(t *testing.T) {
	c := newCatalogue(t, []EventType{
		{Name: "order.paid", Description: "An order was paid.", Schema: []byte(`{"type":"object"}`)},
		{Name: "metric.archived"},
		{Name: "goal.paused", Available: true},
		{Name: "order.refunded", Operational: true},
	}, "goal.*")
	var names []string
	for _, e := range c.Types() {
		names = append(names, e.Name)
		if !e.Available {
			t.Errorf("%s is not available", e.Name)
		}
	}
	if i := slices.Index(names, "metric.archived"); names[i-1] != "metric.refreshed" {
		t.Errorf("a type stands apart from its family: %q", names)
	}
	if !slices.Equal(names[len(names)-2:], []string{"order.paid", "order.refunded"}) {
		t.Errorf("a new family is not the last: %q", names)
	}
	for _, name := range []string{"goal.created", "goal.paused", "metric.archived", "order.paid"} {
		if err := c.CheckPublished(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if e, ok := c.Lookup(name); !ok || e.Name != name || e.Operational {
			t.Errorf("Lookup(%s) = %+v, %v", name, e, ok)
		}
	}
	if _, ok := c.Lookup("order.*"); ok {
		t.Error("a wildcard was found as a type")
	}
	if e := newCatalogue(t, []EventType{{Name: "goal.paused", Available: true}}); e.CheckPublished("goal.paused") == nil {
		t.Error("a type is available in a family that is not")
	}
}

func TestNamesOfOperatorsTypesAreBounded(t *testing.T) {
	longest := "order." + strings.Repeat("x", MaxEventNameLen-len("order."))
	newCatalogue(t, []EventType{{Name: longest}})
	if _, err := NewCatalogue([]EventType{{Name: longest + "x"}}, nil); err == nil || !strings.Contains(err.Error(), "at most 100 bytes") {
		t.Errorf("one byte more: %v", err)
	}
}

func TestSuggestedFamiliesComeInOrder(t *testing.T) {
	types := []EventType{{Name: "case.e"}, {Name: "cash.e"}, {Name: "cast.e"}, {Name: "card.e"}}
	_, err := NewCatalogue(types, []string{"casx.*"})
	if err == nil || !strings.Contains(err.Error(), "Did you mean case.* or cash.* or cast.*?") {
		t.Errorf("%v", err)
	}
}

func TestNewCatalogueReportsEverythingThatIsWrong(t *testing.T) {
	_, err := NewCatalogue([]EventType{
		{Name: "single"},
		{Name: "Order.Paid"},
		{Name: "order..paid"},
		{Name: "order.*"},
		{Name: "order." + strings.Repeat("x", 200)},
		{Name: "metric.created"},
		{Name: "datasource.renamed"},
		{Name: "datafeed.source.renamed"},
		{Name: "subscription.renamed"},
		{Name: "test.renamed"},
		{Name: "order.paid", Schema: []byte("[]")},
		{Name: "order.sent", Schema: []byte("{")},
		{Name: "fine.one"},
		{Name: "fine.one"},
	}, []string{"gaol.*", "fine.*"})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 14 {
		t.Errorf("%d faults are reported, want 14:\n%v", len(lines), err)
	}
	for _, part := range []string{`"single"`, `"order.paid": the schema`, `"gaol.*" is unknown. Did you mean goal.*?`, `"fine.one": a type with this name`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s is missing in\n%v", part, err)
		}
	}
}
