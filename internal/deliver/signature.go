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
	plain, base64 sync.Pool // of hash.Hash
}

func newSigner(secret string) *signer {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, feedmill.SecretPrefix))
	if err != nil {
		panic("a signing secret that is no base64") // they are made here
	}
	return &signer{
		plain:  sync.Pool{New: func() any { return hmac.New(sha256.New, []byte(secret)) }},
		base64: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }},
	}
}

// service is the hex HMAC-SHA256 of the payload, keyed with the secret as the
// client has it, prefix included.
func (s *signer) service(payload []byte) string {
	sum := mac(&s.plain, payload)
	return hex.EncodeToString(sum[:])
}

// standard is the signature of Standard Webhooks, keyed with the bytes behind
// the prefix.
func (s *signer) standard(id, timestamp string, payload []byte) string {
	sum := mac(&s.base64, []byte(id+"."+timestamp+"."), payload)
	return "v1," + base64.StdEncoding.EncodeToString(sum[:])
}

func mac(hashes *sync.Pool, parts ...[]byte) (sum [sha256.Size]byte) {
	h := hashes.Get().(hash.Hash)
	h.Reset()
	for _, part := range parts {
		h.Write(part)
	}
	h.Sum(sum[:0])
	hashes.Put(h)
	return sum
}
