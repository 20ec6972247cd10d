package manifest

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRegistry changes the folder under a registry: what is right is taken, and
// what is wrong leaves what was there.
func TestRegistry(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("shop.yaml", shop)
	write("notes.txt", "not one of them")
	synctest.Test(t, func(t *testing.T) {
		r, err := NewRegistry(folder, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		titles := func() string {
			var all []string
			for _, m := range r.All() {
				all = append(all, m.Title)
			}
			return strings.Join(all, ", ")
		}
		before := titles()
		if _, ok := r.Find("stripe"); !ok || !strings.Contains(before, "A shop") {
			t.Fatal(before)
		}
		write("shop.yaml", strings.Replace(shop, "A shop", "Our own shop", 1))
		if got := titles(); got != before {
			t.Errorf("it was read again at once: %s", got)
		}
		time.Sleep(lookEvery)
		if got := titles(); !strings.Contains(got, "Our own shop") {
			t.Errorf("a change is not seen: %s", got)
		}
		write("other.yaml", "service: other")
		time.Sleep(lookEvery)
		if got := titles(); strings.Contains(got, "other") || !strings.Contains(got, "Our own shop") {
			t.Errorf("with a manifest that is wrong there are %s", got)
		}
		if _, err := NewRegistry(folder, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "other.yaml:1: /baseUrl: ") {
			t.Errorf("a start with it: %v", err)
		}
		write("other.yaml", strings.Replace(shop, "service: shop", "service: stripe", 1))
		time.Sleep(lookEvery)
		if m, ok := r.Find("stripe"); !ok || m.Title != "A shop" {
			t.Error("it does not take the place of the one that comes with the program")
		}
	})
	if _, err := NewRegistry(filepath.Join(folder, "none"), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a folder that is not there is no fault")
	}
}
