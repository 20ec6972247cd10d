package deliver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"sync"

	"github.com/feedmill/feedmill"
)

// sign makes the signature headers. x-service-signature stays with the current
// secret during a rotation; the next one signs beside it.
func sign(set func(name, value string), t Target, m Message) {
	secrets := t.Secrets.At(m.At)
	timestamp := strconv.FormatInt(m.At.Unix(), 10)
	current := t.signer(secrets.Current)
	set("X-Service-Signature", current.service(m.Payload))
	standard := current.standard(string(m.Delivery), timestamp, m.Payload)
	if secrets.Next != "" {
		next := t.signer(secrets.Next)
		set("X-Service-Signature-Next", next.service(m.Payload))
		standard += " " + next.standard(string(m.Delivery), timestamp, m.Payload)
	}
	set("Webhook-Id", string(m.Delivery))
	set("Webhook-Timestamp", timestamp)
	set("Webhook-Signature", standard)
}

// signer signs with one secret. It keeps what was made of the secret, which
// costs as much as to sign a short payload.
type signer struct {
	plain, base64 sync.Pool // of *mac
}

// mac makes signatures one after the other.
type mac struct {
	hash.Hash
	sum  [sha256.Size]byte
	text []byte // room for what it is made of, or as
}

func newMAC(key []byte) *mac { return &mac{Hash: hmac.New(sha256.New, key)} }

// of is the signature of two texts together. The next one overwrites it.
func (m *mac) of(a, b []byte) []byte {
	m.Reset()
	m.Write(a)
	m.Write(b)
	return m.Sum(m.sum[:0])
}

func newSigner(secret string) *signer {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, feedmill.SecretPrefix))
	if err != nil {
		panic("a signing secret that is no base64") // they are made here
	}
	return &signer{
		plain:  sync.Pool{New: func() any { return newMAC([]byte(secret)) }},
		base64: sync.Pool{New: func() any { return newMAC(key) }},
	}
}

// service is the hex HMAC-SHA256 of the payload, keyed with the secret as the
// client has it, prefix included.
func (s *signer) service(payload []byte) string {
	m := s.plain.Get().(*mac)
	defer s.plain.Put(m)
	sum := m.of(nil, payload)
	m.text = hex.AppendEncode(m.text[:0], sum)
	return string(m.text)
}

// standard is the signature of Standard Webhooks, keyed with the bytes behind
// the prefix.
func (s *signer) standard(id, timestamp string, payload []byte) string {
	m := s.base64.Get().(*mac)
	defer s.base64.Put(m)
	m.text = append(m.text[:0], id...)
	m.text = append(m.text, '.')
	m.text = append(m.text, timestamp...)
	m.text = append(m.text, '.')
	sum := m.of(m.text, payload)
	m.text = append(m.text[:0], "v1,"...)
	m.text = base64.StdEncoding.AppendEncode(m.text, sum)
	return string(m.text)
}
