package rest

import (
	"errors"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Another feed of a source deletes by its own key.
func TestDeletesOfAnotherFeed(t *testing.T) {
	s := NewSource(Options{})
	source := []byte(`{"request":{"url":"https://api.test/"},"incremental":{"cursorPath":"$.at","param":{"name":"since"}},"fullEvery":"7d"}`)
	def, err := s.DefineFeed([]byte(`{"response":{"path":"$.lines[*]"},"key":["id"],"deleted":{"flag":"gone"}}`), source)
	if err != nil || def.Mode != feedmill.ModeMerge {
		t.Errorf("%+v %v", def, err)
	}
	response, err := spec.ResponseOf(def.Spec, def.Rules)
	if err != nil || response.Deleted == nil || response.Deleted.Own != "gone" {
		t.Errorf("%+v %v", response, err)
	}
	_, err = s.DefineFeed([]byte(`{"response":{"path":"$.lines[*]"},"deleted":{"flag":"gone"}}`), source)
	if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Faults[0].Pointer != "/deleted" {
		t.Error(err)
	}
}
