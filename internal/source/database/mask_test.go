package database

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// storedErrors has connections, and an error of a feed of each.
type storedErrors struct {
	Store
	left    []feedmill.Connection
	details map[feedmill.ID]string
}

func (s *storedErrors) UnmaskedConnections(_ context.Context, after feedmill.Connection, limit int) (page []feedmill.Connection, err error) {
	for _, c := range s.left {
		if c.ID > after.ID && len(page) < limit {
			page = append(page, c)
		}
	}
	return page, nil
}

func (s *storedErrors) MaskErrors(_ context.Context, _, id feedmill.ID, mask func(string) string) error {
	s.details[id] = mask(s.details[id])
	s.left = slices.DeleteFunc(s.left, func(c feedmill.Connection) bool { return c.ID == id })
	return nil
}

// plainVault seals nothing.
type plainVault struct{ Vault }

func (plainVault) Unseal(_ context.Context, sealed []byte, _ string) ([]byte, error) {
	if string(sealed) == "lost" {
		return nil, errors.New("no such key")
	}
	return sealed, nil
}

// TestMaskErrors masks every secret of a connection in an error that is stored, also where the text
// was cut within one.
func TestMaskErrors(t *testing.T) {
	s := &storedErrors{
		left:    []feedmill.Connection{{ID: "con_a", Secrets: []byte(`{"password":"hunter22","clientKey":"-----KEY-----"}`)}},
		details: map[feedmill.ID]string{"con_a": "hunter22 and -----KEY----- of " + strings.Repeat("é", 20) + "hunter…"},
	}
	c := &Connections{Options: Options{Store: s, Vault: plainVault{}}}
	if more, err := c.MaskErrors(t.Context()); more || err != nil {
		t.Fatal(more, err)
	}
	if got, want := s.details["con_a"], "*** and *** of "+strings.Repeat("é", 20)+"***…"; got != want {
		t.Errorf("the error is %q, want %q", got, want)
	}
	if _, err := c.MaskErrors(t.Context()); err != nil || len(s.left) != 0 {
		t.Error(err)
	}
}

// TestMaskErrorsWithoutSecrets masks the errors of all connections but those whose secrets cannot
// be decrypted, however many come first, and tries those again.
func TestMaskErrorsWithoutSecrets(t *testing.T) {
	s := &storedErrors{details: make(map[feedmill.ID]string)}
	const lost = 2*maskStep + 3
	for i := range lost + maskStep {
		c := feedmill.Connection{ID: feedmill.ID(fmt.Sprintf("con_%03d", i)), Secrets: []byte("lost")}
		if i == 1 {
			c.Secrets = []byte(`"hunter22"`)
		} else if i >= lost {
			c.Secrets = []byte(`{"password":"hunter22"}`)
		}
		s.left, s.details[c.ID] = append(s.left, c), "hunter22"
	}
	var log strings.Builder
	c := &Connections{Options: Options{Store: s, Vault: plainVault{}, Log: slog.New(slog.NewTextHandler(&log, nil))}}
	round := func() {
		for more := true; more; {
			var err error
			if more, err = c.MaskErrors(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	round()
	if len(s.left) != lost || s.details["con_062"] != "***" {
		t.Errorf("%d connections are left, and the last error is %q", len(s.left), s.details["con_062"])
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "connections=43") || !strings.Contains(text, "con_000") || strings.Contains(text, "hunter22") {
		t.Errorf("the log is %s", text)
	}
	for i := range s.left { // the key is found again
		s.left[i].Secrets = []byte(`{"password":"hunter22"}`)
	}
	round()
	if len(s.left) != 0 || s.details["con_000"] != "***" {
		t.Errorf("%d connections are left, and the first error is %q", len(s.left), s.details["con_000"])
	}
}
