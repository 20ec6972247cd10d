package feed

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestHeldBodies(t *testing.T) {
	m := NewMill(Parts{Temp: t.TempDir()})
	hold := func(workspace, owner, text string) feedmill.HeldBody {
		t.Helper()
		h := m.Hold()
		defer h.Close()
		if _, err := io.WriteString(h, text); err != nil {
			t.Fatal(err)
		}
		b, ok := h.Keep(feedmill.HeldBody{Workspace: feedmill.ID(workspace), Owner: owner})
		if !ok || !feedmill.IsID(feedmill.PrefixPreview, string(b.ID)) || time.Until(b.ExpiresAt) > feedmill.HeldFor {
			t.Fatalf("it is held as %+v, %t", b, ok)
		}
		return b
	}
	read := func(workspace, owner string, id feedmill.ID) string {
		_, body, err := m.Held(feedmill.ID(workspace), owner, id)
		if errors.Is(err, feedmill.ErrNotFound) {
			return "nothing"
		}
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := hold("ws_1", "key_1", "a file")
	for _, c := range []struct{ workspace, owner, want string }{
		{"ws_1", "key_1", "a file"},
		{"ws_1", "key_1", "a file"}, // and again
		{"ws_1", "key_2", "nothing"},
		{"ws_2", "key_1", "nothing"},
	} {
		if got := read(c.workspace, c.owner, first.ID); got != c.want {
			t.Errorf("%s of %s reads %q, want %q", c.owner, c.workspace, got, c.want)
		}
	}

	// Whoever reads can finish while it is let go.
	_, body, err := m.Held("ws_1", "key_1", first.ID)
	if err != nil {
		t.Fatal(err)
	}
	m.LetGo(first)
	if text, err := io.ReadAll(body); err != nil || string(text) != "a file" || body.Close() != nil {
		t.Errorf("reading goes on with %q, %v", text, err)
	}
	if got := read("ws_1", "key_1", first.ID); got != "nothing" {
		t.Errorf("what was let go reads %q", got)
	}

	// One workspace holds only so many, and takes nothing from another.
	other := hold("ws_2", "key_9", "theirs")
	oldest := hold("ws_1", "key_1", "x")
	for range maxHeldFiles {
		hold("ws_1", "key_1", "x")
	}
	if got := read("ws_1", "key_1", oldest.ID) + ", " + read("ws_2", "key_9", other.ID); got != "nothing, theirs" {
		t.Errorf("the oldest and the other's read %q", got)
	}
	for range allHeld + 2 { // each workspace as many as it may
		id := feedmill.NewID(feedmill.PrefixWorkspace)
		for range maxHeldFiles {
			hold(string(id), "key_1", "x")
		}
	}
	if n := len(m.held.bodies); n != allHeld*maxHeldFiles {
		t.Errorf("%d bodies are held", n)
	}
	if got := read("ws_2", "key_9", other.ID); got != "theirs" {
		t.Errorf("who holds little reads %q", got)
	}
}

func TestNothingIsHeldWithoutRoom(t *testing.T) {
	free := int64(100)
	m := NewMill(Parts{Temp: t.TempDir(), Room: Room{Disk: &Floor{Free: func() (int64, error) { return free, nil }, Bytes: 50}}})
	h := m.Hold()
	free = 10
	if _, err := io.WriteString(h, "x"); err != nil {
		t.Error(err)
	}
	if b, ok := h.Keep(feedmill.HeldBody{}); ok {
		t.Errorf("it is held as %+v", b)
	}
}
