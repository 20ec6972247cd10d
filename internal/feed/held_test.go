package feed

import (
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
)

func TestHeldBodies(t *testing.T) {
	m := heldMill(t, Room{})
	other := NewMill(m.Parts) // another replica
	hold := func(workspace, owner, text string) feedmill.HeldBody {
		t.Helper()
		h := m.Hold(feedmill.ID(workspace))
		defer h.Close()
		if _, err := io.WriteString(h, text); err != nil {
			t.Fatal(err)
		}
		b, ok := h.Keep(t.Context(), feedmill.HeldBody{Owner: owner})
		if !ok || !feedmill.IsID(feedmill.PrefixPreview, string(b.ID)) || time.Until(b.ExpiresAt) > feedmill.HeldFor {
			t.Fatalf("it is held as %+v, %t", b, ok)
		}
		return b
	}
	read := func(workspace, owner string, id feedmill.ID) string {
		_, body, err := other.Held(t.Context(), feedmill.ID(workspace), owner, id)
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
	_, body, err := m.Held(t.Context(), "ws_1", "key_1", first.ID)
	if err != nil {
		t.Fatal(err)
	}
	other.LetGo(first)
	if text, err := io.ReadAll(body); err != nil || string(text) != "a file" || body.Close() != nil {
		t.Errorf("reading goes on with %q, %v", text, err)
	}
	if got := read("ws_1", "key_1", first.ID); got != "nothing" {
		t.Errorf("what was let go reads %q", got)
	}

	// One workspace holds only so many, and takes nothing from another.
	theirs := hold("ws_2", "key_9", "theirs")
	oldest := hold("ws_1", "key_1", "x")
	for range maxHeldFiles {
		hold("ws_1", "key_1", "x")
	}
	if got := read("ws_1", "key_1", oldest.ID) + ", " + read("ws_2", "key_9", theirs.ID); got != "nothing, theirs" {
		t.Errorf("the oldest and the other's read %q", got)
	}
	for range allHeld + 2 { // each workspace as many as it may
		id := feedmill.NewID(feedmill.PrefixWorkspace)
		for range maxHeldFiles {
			hold(string(id), "key_1", "x")
		}
	}
	files := func() (n int) {
		for _, err := range m.Blobs.List(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	if n, bytes, err := m.Bodies.HeldBodies(t.Context()); n != allHeld*maxHeldFiles || bytes != n+5 || files() != int(n) || err != nil {
		t.Errorf("%d bodies of %d bytes in %d files are held, %v", n, bytes, files(), err)
	}
	if got := read("ws_2", "key_9", theirs.ID); got != "theirs" {
		t.Errorf("who holds little reads %q", got)
	}

	// What is past its time goes, with its file.
	for more := true; more; {
		if more, err = m.forgetBodies(t.Context(), now().Add(feedmill.HeldFor)); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, err := m.Bodies.HeldBodies(t.Context()); n != 0 || files() != 0 || err != nil {
		t.Errorf("%d bodies in %d files are held after their time, %v", n, files(), err)
	}
}

// heldMill is a mill that can only hold bodies.
func heldMill(t *testing.T, room Room) *Mill {
	db := sqlitetest.New(t)
	folder, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	log := slog.New(slog.DiscardHandler)
	return NewMill(Parts{Blobs: NewVerifiedFiles(NewRecordedFiles(folder, db, "one", ""), db, log, nil), Bodies: db, Room: room, Log: log})
}

func TestNothingIsHeldWithoutRoom(t *testing.T) {
	free := int64(100)
	m := heldMill(t, Room{Disk: &Floor{Free: func() (int64, error) { return free, nil }, Bytes: 50}})
	h := m.Hold("ws_1")
	free = 10
	if _, err := io.WriteString(h, "x"); err != nil {
		t.Error(err)
	}
	if b, ok := h.Keep(t.Context(), feedmill.HeldBody{}); ok {
		t.Errorf("it is held as %+v", b)
	}
}
