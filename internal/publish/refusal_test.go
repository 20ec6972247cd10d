package publish

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// refusalOf is the refusal that publishing events meets with.
func (f fixture) refusalOf(t *testing.T, events ...feedmill.NewEvent) *feedmill.Error {
	t.Helper()
	_, err := f.Publish(t.Context(), f.ws, events, nil)
	var refusal *feedmill.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("error is %v", err)
	}
	return refusal
}

// pointers are the places of a refusal's faults.
func pointers(refusal *feedmill.Error) string {
	var at []string
	for _, fault := range refusal.Faults {
		at = append(at, fault.Pointer)
	}
	return strings.Join(at, " ")
}

func TestRefusedTogetherAndNothingIsKept(t *testing.T) {
	f := newFixture(t)
	refusal := f.refusalOf(
		t, feedmill.NewEvent{Type: "metric.created"}, feedmill.NewEvent{Type: "metric.creatd"}, feedmill.NewEvent{Type: "datafeed.source.refreshed"},
		feedmill.NewEvent{Type: "tag.created", Data: []byte(`{"a":{"b":1,"b":2}}`)}, feedmill.NewEvent{Type: "tag.created", Data: []byte(`"\ud800"`)},
	)
	if got, want := pointers(refusal), "/1/type /2/type /3/data/a/b /4/data"; got != want || refusal.Kind != feedmill.ErrInvalid {
		t.Errorf("faults at %s, want %s: %v", got, want, refusal)
	}
	if events, err := f.store.Events(t.Context(), f.ws, feedmill.EventQuery{Page: feedmill.Page{Limit: 10}}); err != nil || len(events) != 0 {
		t.Errorf("%d events are there, %v", len(events), err)
	}
}

// What several refusals have in common stays, and what they differ in goes.
func TestOneRefusalOfSeveral(t *testing.T) {
	f := newFixture(t)
	reserved, unknown, other := feedmill.NewEvent{Type: "datafeed.source.refreshed"}, feedmill.NewEvent{Type: "nothing.like.it"}, feedmill.NewEvent{Type: "nor.like.this"}
	alone := map[string]*feedmill.Error{"reserved": f.refusalOf(t, reserved), "unknown": f.refusalOf(t, unknown)}
	for name, refusal := range alone {
		if refusal.Type == "" || refusal.Detail == "" || refusal.Faults[0].Detail != refusal.Detail || pointers(refusal) != "/0/type" {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	for _, c := range []struct {
		events       []feedmill.NewEvent
		kind, detail string
	}{
		{[]feedmill.NewEvent{reserved, reserved}, alone["reserved"].Type, alone["reserved"].Detail},
		{[]feedmill.NewEvent{unknown, other}, alone["unknown"].Type, alone["unknown"].Detail},
		{[]feedmill.NewEvent{unknown, reserved}, "", ""},
	} {
		got := f.refusalOf(t, c.events...)
		if got.Type != c.kind || got.Detail != c.detail || pointers(got) != "/0/type /1/type" {
			t.Errorf("%v: %+v, want %q and %q", c.events, got, c.kind, c.detail)
		}
	}
}

func TestNoNUL(t *testing.T) {
	f := newFixture(t)
	for text, refused := range map[string]bool{"\x00": true, "a\x00": true, "\x01": false, "a": false, "": false} {
		for pointer, event := range map[string]feedmill.NewEvent{
			"/0/id": {Type: "tag.created", DedupeKey: text}, "/0/resourceId": {Type: "tag.created", ResourceID: text},
		} {
			_, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{event}, nil)
			if (err != nil) != refused {
				t.Errorf("%q at %s: %v", text, pointer, err)
			}
			if refused && pointers(f.refusalOf(t, event)) != pointer {
				t.Errorf("%q at %s is refused at another place", text, pointer)
			}
		}
	}
}

func TestTooLarge(t *testing.T) {
	f := newFixture(t)
	sized := func(n int) feedmill.NewEvent {
		return feedmill.NewEvent{Type: "tag.created", Data: []byte(`"` + strings.Repeat("x", n) + `"`)}
	}
	accepted, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{sized(0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	event, err := f.store.Event(t.Context(), f.ws, accepted[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	most := 1<<20 - len(event.Payload)
	if _, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{sized(most)}, nil); err != nil {
		t.Errorf("a payload of 1 MiB is refused: %v", err)
	}
	refusal := f.refusalOf(t, sized(0), sized(most+1))
	if refusal.Kind != feedmill.ErrTooLarge || pointers(refusal) != "/1" || !strings.Contains(refusal.Detail, "1048576") ||
		!strings.Contains(refusal.Faults[0].Detail, fmt.Sprint(1<<20+1)) {
		t.Errorf("a byte more is refused with %+v", refusal)
	}
}
