package feedmill

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// What is sealed opens under its record's name alone: these must not change.
func TestRecordsOfSecretsStay(t *testing.T) {
	for got, want := range map[string]string{
		Subscription{ID: "sub_1"}.SecretsRecord():                            "sub/sub_1/secrets",
		Subscription{ID: "sub_1"}.ConfigRecord():                             "sub/sub_1/headers",
		Source{ID: "ds_1"}.SecretsRecord():                                   "ds_1",
		IdempotentResponse{Workspace: "ws_1", Key: "k"}.Record():             "once/ws_1/k",
		IdempotentResponse{Workspace: "ws_1", Key: "k", Owner: "o"}.Record(): "once/ws_1/o/k",
		Subscription{ID: "sub_1"}.URLRecord():                                "sub/sub_1/url",
		Connection{ID: "con_1"}.SecretsRecord():                              "con/con_1/secrets",
		Connection{ID: "con_1"}.ReceivedRecord():                             "connection/con_1/received",
		SignIn{Link: []byte{0xff, 0xfe}}.Record():                            "signin/__4",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

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

func TestNewKeySecret(t *testing.T) {
	secret := NewKeySecret()
	text, ok := strings.CutPrefix(secret, KeyPrefix)
	key, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(key) != 32 {
		t.Errorf("%q is not %s and the base64 of 32 bytes (%v)", secret, KeyPrefix, err)
	}
	if secret == NewKeySecret() {
		t.Error("two keys are equal")
	}
}

func TestSecretsAreRandom(t *testing.T) {
	token, hash := NewToken()
	if !bytes.Equal(hash, HashToken(token)) || bytes.Equal(hash, HashToken(token+"x")) {
		t.Error("the hash is not that of the token")
	}
	seen := make(map[string]bool)
	for _, text := range []string{token, NewLinkSecret(), NewLinkSecret(), NewSessionToken(), NewSessionToken(), strings.TrimPrefix(NewKeySecret(), KeyPrefix)} {
		if b, err := base64.RawURLEncoding.DecodeString(text); err != nil || len(b) != 32 || seen[text] {
			t.Errorf("%q is no text of 256 bits of its own", text)
		}
		seen[text] = true
	}
}
