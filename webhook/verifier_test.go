package webhook

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

const (
	oldSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	newSecret   = "whsec_mWh0Yf0nSa4PiMyXGJXMTEvXIQoQdyQ0VWzWCgqqcnA="
	otherSecret = "whsec_c29tZXRoaW5nIGVsc2U="

	testDelivery = "dlv_01k9testtesttesttesttestte"
	testPayload  = `{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_1","data":{"value":42}}`
)

// mustNew makes a verifier of secrets that are good.
func mustNew(t testing.TB, secrets ...string) *Verifier {
	t.Helper()
	v, err := New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// signed is the header of a delivery of payload at a time.
func signed(t testing.TB, at time.Time, payload string, secrets ...string) http.Header {
	t.Helper()
	h := make(http.Header)
	mustNew(t, secrets...).Sign(h, testDelivery, at, []byte(payload))
	return h
}

func TestNewRefusesWhatIsNoSecret(t *testing.T) {
	for _, secrets := range [][]string{
		{},
		{""},
		{"whsec_"},
		{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		{"WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		{oldSecret + "\n"},
		{" " + oldSecret},
		{"whsec_c29tZXRoaW5nIGVsc2U"},
		{"whsec_c29tZXRoaW5nIGVsc2V="}, // its last bits are not zero
		{"whsec_-_-_"},
		{oldSecret, oldSecret + "," + newSecret},
	} {
		v, err := New(secrets...)
		if !errors.Is(err, ErrSecret) || v != nil {
			t.Errorf("%q: %v, want ErrSecret", secrets, err)
			continue
		}
		for _, secret := range secrets {
			if text := strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"); text != "" && strings.Contains(err.Error(), text) {
				t.Errorf("%q is in the error %v", secret, err)
			}
		}
	}
}

// The vector is of the Standard Webhooks specification.
func TestStandardVector(t *testing.T) {
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	k, err := newKey(oldSecret)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.standard("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The value was made with openssl dgst -sha256 -hmac.
func TestPlainVector(t *testing.T) {
	k, err := newKey(oldSecret)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := k.plain([]byte(`{"test": 2432232314}`)), "80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVerifyPayload(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name    string
		secrets []string // the receiver's
		signers []string // Feedmill's
		want    error
	}{
		{"the secret", []string{oldSecret}, []string{oldSecret}, nil},
		{"another secret", []string{otherSecret}, []string{oldSecret}, ErrSignature},
		{"a rotation that the receiver does not know of", []string{oldSecret}, []string{oldSecret, newSecret}, nil},
		{"a rotation, the receiver with the new one alone", []string{newSecret}, []string{oldSecret, newSecret}, nil},
		{"a rotation, the receiver with both", []string{newSecret, oldSecret}, []string{oldSecret, newSecret}, nil},
		{"before a rotation, the receiver with both", []string{newSecret, oldSecret}, []string{oldSecret}, nil},
		{"after a rotation, the receiver with both", []string{oldSecret, newSecret}, []string{newSecret}, nil},
		{"after a rotation, the receiver with the old one alone", []string{oldSecret}, []string{newSecret}, ErrSignature},
		{"several secrets, none of them right", []string{oldSecret, newSecret}, []string{otherSecret}, ErrSignature},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := signed(t, now, testPayload, c.signers...)
			v := mustNew(t, c.secrets...)
			if _, err := v.VerifyPayload([]byte(testPayload), h); !errors.Is(err, c.want) {
				t.Errorf("by Standard Webhooks: %v, want %v", err, c.want)
			}
			for _, name := range []string{headerID, headerTimestamp, headerSignature} {
				h.Del(name)
			}
			v.AcceptPlain = true
			if _, err := v.VerifyPayload([]byte(testPayload), h); !errors.Is(err, c.want) {
				t.Errorf("by the plain signature: %v, want %v", err, c.want)
			}
		})
	}
}

func TestVerifyPayloadReadsHeaders(t *testing.T) {
	const (
		id, at, signature = headerID, headerTimestamp, headerSignature
		plain, next       = headerPlain, headerPlainNext
	)
	good := signed(t, time.Now(), testPayload, oldSecret)
	sig := good.Get(signature)
	for _, c := range []struct {
		name        string
		set         map[string]string // an empty value takes the header away
		acceptPlain bool
		want        error
	}{
		{"as it is", nil, false, nil},
		{"without the plain one", map[string]string{plain: ""}, false, nil},
		{"the plain one wrong", map[string]string{plain: strings.Repeat("0", 64)}, false, nil},
		{"the right entry last", map[string]string{signature: "v1,bm9uZQ== v1a,xyz  v2,abc " + sig}, false, nil},
		{"the right entry first", map[string]string{signature: sig + " v1,bm9uZQ=="}, false, nil},
		{"another version", map[string]string{signature: "v2" + strings.TrimPrefix(sig, "v1")}, false, ErrSignature},
		{"no version", map[string]string{signature: strings.TrimPrefix(sig, "v1,")}, false, ErrSignature},
		{"padding cut off", map[string]string{signature: strings.TrimRight(sig, "=")}, false, ErrSignature},
		{"entries by comma", map[string]string{signature: "v1,bm9uZQ==," + sig}, false, ErrSignature},
		{"empty signature", map[string]string{signature: ""}, false, ErrSignature},
		{"empty signature, plain accepted", map[string]string{signature: ""}, true, ErrSignature},
		{"another id", map[string]string{id: testDelivery + "x"}, false, ErrSignature},
		{"no id", map[string]string{id: ""}, false, ErrSignature},
		{"another time", map[string]string{at: "1"}, false, ErrSignature},
		{"the same time, written in another way", map[string]string{at: "0" + good.Get(at)}, false, ErrSignature},
		{"no time", map[string]string{at: ""}, false, ErrSignature},
		{"a bad one does not fall back", map[string]string{signature: "v1,bm9uZQ=="}, true, ErrSignature},
		{"plain alone", map[string]string{id: "", at: "", signature: ""}, false, ErrSignature},
		{"plain alone, accepted", map[string]string{id: "", at: "", signature: ""}, true, nil},
		{"plain in upper case", map[string]string{id: "", at: "", signature: "", plain: strings.ToUpper(good.Get(plain))}, true, ErrSignature},
		{"plain as the next one", map[string]string{id: "", at: "", signature: "", plain: "", next: good.Get(plain)}, true, nil},
		{"nothing", map[string]string{id: "", at: "", signature: "", plain: ""}, true, ErrSignature},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := good.Clone()
			for name, value := range c.set {
				h.Del(name)
				if value != "" {
					h.Set(name, value)
				}
			}
			v := mustNew(t, oldSecret)
			v.AcceptPlain = c.acceptPlain
			e, err := v.VerifyPayload([]byte(testPayload), h)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if c.want == nil && e.Delivery != testDelivery {
				t.Errorf("the delivery is %q", e.Delivery)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for _, c := range []struct {
			tolerance, age time.Duration
			want           error
		}{
			{0, 0, nil},
			{0, 5 * time.Minute, nil},
			{0, 5*time.Minute + time.Second, ErrTimestamp},
			{0, -5 * time.Minute, nil},
			{0, -5*time.Minute - time.Second, ErrTimestamp},
			{time.Hour, 59 * time.Minute, nil},
			{time.Hour, 61 * time.Minute, ErrTimestamp},
			{time.Second, 2 * time.Second, ErrTimestamp},
			{-1, 24 * 365 * time.Hour, nil},
			{-1, -24 * 365 * time.Hour, nil},
		} {
			v := mustNew(t, oldSecret)
			v.Tolerance = c.tolerance
			h := signed(t, now.Add(-c.age), testPayload, oldSecret)
			if _, err := v.VerifyPayload([]byte(testPayload), h); !errors.Is(err, c.want) {
				t.Errorf("%s old, %s allowed: %v, want %v", c.age, c.tolerance, err, c.want)
			}
		}
	})
}

func TestTimestampThatIsNoNumber(t *testing.T) {
	v := mustNew(t, oldSecret)
	for _, timestamp := range []string{"now", "1.5", "99999999999999999999", "0x10"} {
		h := make(http.Header)
		h.Set(headerID, testDelivery)
		h.Set(headerTimestamp, timestamp)
		h.Set(headerSignature, v.keys[0].standard(testDelivery, timestamp, []byte(testPayload)))
		if _, err := v.VerifyPayload([]byte(testPayload), h); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", timestamp, err)
		}
	}
}

// What is signed verifies, and does not once a byte of anything signed is
// another.
func TestFlippingAByteBreaksTheSignature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SliceOfN(rapid.Byte(), 24, 64).Draw(t, "secret")
		v, err := New("whsec_" + base64.StdEncoding.EncodeToString(secret))
		if err != nil {
			t.Fatal(err)
		}
		v.AcceptPlain = rapid.Bool().Draw(t, "plain")
		payload := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "payload")
		h := make(http.Header)
		v.Sign(h, testDelivery, time.Now(), payload)
		covered := []string{headerID, headerTimestamp, headerSignature}
		if v.AcceptPlain {
			for _, name := range covered {
				h.Del(name)
			}
			covered = []string{headerPlain}
		}
		if _, err := v.verify(payload, h); err != nil {
			t.Fatalf("what was signed does not verify: %v", err)
		}
		part := rapid.IntRange(0, len(covered)).Draw(t, "part")
		flip := func(b []byte) []byte {
			i := rapid.IntRange(0, len(b)-1).Draw(t, "place")
			b[i] ^= rapid.ByteRange(1, 255).Draw(t, "flip")
			return b
		}
		if part == len(covered) {
			payload = flip(payload)
		} else {
			h.Set(covered[part], string(flip([]byte(h.Get(covered[part])))))
		}
		if _, err := v.verify(payload, h); !errors.Is(err, ErrSignature) {
			t.Fatalf("%v, want ErrSignature", err)
		}
	})
}
