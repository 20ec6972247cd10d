package database

import (
	"context"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// storedErrors has one connection, and an error of one of its feeds.
type storedErrors struct {
	Store
	left   []feedmill.Connection
	detail string
}

func (s *storedErrors) UnmaskedConnections(context.Context, int) ([]feedmill.Connection, error) {
	return s.left, nil
}

func (s *storedErrors) MaskErrors(_ context.Context, _, _ feedmill.ID, mask func(string) string) error {
	s.detail, s.left = mask(s.detail), nil
	return nil
}

// plainVault seals nothing.
type plainVault struct{ Vault }

func (plainVault) Unseal(_ context.Context, sealed []byte, _ string) ([]byte, error) {
	return sealed, nil
}

// TestMaskErrors masks every secret of a connection in an error that is stored, also where the text
// was cut within one.
func TestMaskErrors(t *testing.T) {
	s := &storedErrors{
		left:   []feedmill.Connection{{Secrets: []byte(`{"password":"hunter22","clientKey":"-----KEY-----"}`)}},
		detail: "hunter22 and -----KEY----- of " + strings.Repeat("é", 20) + "hunter…",
	}
	c := &Connections{Options: Options{Store: s, Vault: plainVault{}}}
	if more, err := c.MaskErrors(t.Context()); more || err != nil {
		t.Fatal(more, err)
	}
	if want := "*** and *** of " + strings.Repeat("é", 20) + "***…"; s.detail != want {
		t.Errorf("the error is %q, want %q", s.detail, want)
	}
	if _, err := c.MaskErrors(t.Context()); err != nil || len(s.left) != 0 {
		t.Error(err)
	}
}
