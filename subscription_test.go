package feedmill

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

func TestSigningSecretsAt(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	rotating := SigningSecrets{Current: "old", Next: "new", SwitchAt: at}
	for _, c := range []struct {
		name    string
		secrets SigningSecrets
		t       time.Time
		want    SigningSecrets
	}{
		{"no rotation", SigningSecrets{Current: "only"}, at, SigningSecrets{Current: "only"}},
		{"during the overlap", rotating, at.Add(-time.Nanosecond), rotating},
		{"at its end", rotating, at, SigningSecrets{Current: "new"}},
		{"after it", rotating, at.Add(time.Hour), SigningSecrets{Current: "new"}},
	} {
		if got := c.secrets.At(c.t); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestNewSigningSecret(t *testing.T) {
	secret := NewSigningSecret()
	text, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(key) != 32 {
		t.Errorf("%q is not whsec_ and the padded base64 of 32 bytes (%v)", secret, err)
	}
	if secret == NewSigningSecret() {
		t.Error("two secrets are equal")
	}
}

// Slots are stored: those of subscriptions that there are must not move.
func TestSlotsStay(t *testing.T) {
	for id, want := range map[ID]int{"sub_01h455vb4pex5vsknk084sn02q": 238, "sub_7zzzzzzzzzzzzzzzzzzzzzzzzz": 3, "": 197} {
		if got := Slot(id); got != want {
			t.Errorf("%s is in slot %d, want %d", id, got, want)
		}
	}
}

func TestSlotsAreUsedEvenly(t *testing.T) {
	const each = 100
	var in [Slots]int
	for range each * Slots {
		in[Slot(NewID(PrefixSubscription))]++
	}
	for slot, n := range in {
		if n < each/3 || n > each*3 {
			t.Errorf("slot %d has %d of %d subscriptions", slot, n, each*Slots)
		}
	}
}
