package feed

import (
	"bytes"
	"testing"

	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/share/sharetest"
)

// TestBodiesTakeTurns holds the writing of a body of several parts to taking turns with other work, and its workspace
// to being present meanwhile.
func TestBodiesTakeTurns(t *testing.T) {
	folder, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx := share.For(t.Context(), "sender")
	sharetest.TakesTurns(t, "receiving a body", func() {
		draft, err := folder.Begin("a")
		if err != nil {
			t.Fatal(err)
		}
		defer draft.Close()
		a := &incoming{Draft: draft}
		a.moved.L = &a.mu
		if err := a.fill(ctx, bytes.NewReader(make([]byte, partBytes))); err != nil {
			t.Fatal(err)
		}
		if draft.Size() != partBytes || !share.AnybodyBut("one") {
			t.Errorf("%d bytes were written", draft.Size())
		}
	})
}
