package deliver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/feedmill/feedmill"
)

// The vector is of the Standard Webhooks specification.
func TestStandardSignatureVector(t *testing.T) {
	s := signers.New().(*signer)
	s.use("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	got := s.standard("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// It is the HMAC of the library, with keys and texts of any length.
func TestMACIsHMAC(t *testing.T) {
	m := signers.New().(*signer)
	var k key
	for length := range 3 * sha256.BlockSize {
		secret, text := []byte(strings.Repeat("k", length)), []byte(strings.Repeat("text", length))
		want := hmac.New(sha256.New, secret)
		want.Write(text)
		m.prepare(&k, secret)
		for range 2 {
			if got := m.of(&k, text[:length], text[length:]); !hmac.Equal(got, want.Sum(nil)) {
				t.Errorf("with a key of %d bytes it is %x, want %x", length, got, want.Sum(nil))
			}
		}
	}
}

func TestSignaturesThroughARotation(t *testing.T) {
	now := time.Now()
	first, second := feedmill.NewSigningSecret(), feedmill.NewSigningSecret()
	rotating := feedmill.SigningSecrets{Current: first, Next: second, SwitchAt: now.Add(time.Hour)}
	for _, c := range []struct {
		name    string
		secrets feedmill.SigningSecrets
		at      time.Time
		service string // the secret of x-service-signature
		next    string // and of x-service-signature-next
		good    []string
		bad     []string
	}{
		{"one secret", feedmill.SigningSecrets{Current: first}, now, first, "", []string{first}, []string{second}},
		{"during the overlap", rotating, now, first, second, []string{first, second}, nil},
		{"after the overlap", rotating, now.Add(time.Hour), second, "", []string{second}, []string{first}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := feedmill.Message{Delivery: feedmill.NewID(feedmill.PrefixDelivery), Payload: []byte(`{"id":"evt_1","data":{}}`), At: c.at}
			h := make(http.Header)
			sign(h.Set, c.secrets, &m)
			if got := h.Get("x-service-signature"); got != hexHMAC(c.service, m.Payload) {
				t.Errorf("x-service-signature is %s", got)
			}
			want := ""
			if c.next != "" {
				want = hexHMAC(c.next, m.Payload)
			}
			if got := h.Get("x-service-signature-next"); got != want {
				t.Errorf("x-service-signature-next is %q, want %q", got, want)
			}
			for _, secret := range c.good {
				if err := verify(secret, m.Payload, h); err != nil {
					t.Errorf("the stock library does not verify: %v", err)
				}
			}
			for _, secret := range c.bad {
				if verify(secret, m.Payload, h) == nil {
					t.Error("the stock library verifies with a secret that does not sign")
				}
			}
			if verify(c.good[0], append([]byte(" "), m.Payload...), h) == nil {
				t.Error("the stock library verifies another payload")
			}
		})
	}
}

func verify(secret string, payload []byte, h http.Header) error {
	wh, err := standardwebhooks.NewWebhook(strings.TrimPrefix(secret, feedmill.SecretPrefix))
	if err != nil {
		return err
	}
	return wh.VerifyIgnoringTimestamp(payload, h)
}

// hexHMAC is the recipe of the documentation, word for word.
func hexHMAC(secret string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(payload)
	return hex.EncodeToString(mac.Sum(nil))
}
