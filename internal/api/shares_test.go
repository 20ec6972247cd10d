package api

import (
	"errors"
	"fmt"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// Whoever has all of his places is told so, and whoever finds them taken by others is
// told that instead.
func TestPlacesForUploads(t *testing.T) {
	s := newShares()
	for i := range uploadsEach {
		if _, err := s.takeUpload(share.For(t.Context(), "one")); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := s.takeUpload(share.For(t.Context(), "one")); !errors.Is(err, feedmill.ErrTooMany) {
		t.Error(err)
	}
	for i := range maxUploads - uploadsEach {
		if _, err := s.takeUpload(share.For(t.Context(), fmt.Sprint(i/uploadsEach))); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := s.takeUpload(share.For(t.Context(), "another")); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Error(err)
	}
}
