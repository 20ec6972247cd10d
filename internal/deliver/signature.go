package deliver

import (
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
	current := newSigner(secrets.Current)
	set("X-Service-Signature", current.service(m.Payload))
	standard := current.standard(string(m.Delivery), timestamp, m.Payload)
	if secrets.Next != "" {
		next := newSigner(secrets.Next)
		set("X-Service-Signature-Next", next.service(m.Payload))
		standard += " " + next.standard(string(m.Delivery), timestamp, m.Payload)
	}
	set("Webhook-Id", string(m.Delivery))
	set("Webhook-Timestamp", timestamp)
	set("Webhook-Signature", standard)
}

// signer signs with one secret. It is made anew for each request: kept, it and a
// prepared hash would be most of what a subscription that is sent to takes of memory.
type signer struct {
	plain, base64 []byte // keys of no more than a block
}

// mac makes HMACs with SHA-256, one after the other, with any keys. That of the
// library belongs to one key for good.
type mac struct {
	hash hash.Hash
	pad  [sha256.BlockSize]byte
	sum  [sha256.Size]byte
	text []byte // room for what it is made of, or as
}

var macs = sync.Pool{New: func() any { return &mac{hash: sha256.New()} }}

// of is the HMAC of two texts together. The next one overwrites it.
func (m *mac) of(key, a, b []byte) []byte {
	m.begin(key, 0x36)
	m.hash.Write(a)
	m.hash.Write(b)
	inner := m.hash.Sum(m.sum[:0])
	m.begin(key, 0x5c)
	m.hash.Write(inner)
	return m.hash.Sum(m.sum[:0])
}

func (m *mac) begin(key []byte, pad byte) {
	m.hash.Reset()
	clear(m.pad[copy(m.pad[:], key):])
	for i := range m.pad {
		m.pad[i] ^= pad
	}
	m.hash.Write(m.pad[:])
}

func newSigner(secret string) signer {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, feedmill.SecretPrefix))
	if err != nil {
		panic("a signing secret that is no base64") // they are made here
	}
	return signer{plain: blockKey([]byte(secret)), base64: blockKey(key)}
}

// blockKey is a key of no more than a block: a longer one stands for its hash.
func blockKey(key []byte) []byte {
	if len(key) > sha256.BlockSize {
		sum := sha256.Sum256(key)
		return sum[:]
	}
	return key
}

// service is the hex HMAC-SHA256 of the payload, keyed with the secret as the
// client has it, prefix included.
func (s signer) service(payload []byte) string {
	m := macs.Get().(*mac)
	defer macs.Put(m)
	sum := m.of(s.plain, nil, payload)
	m.text = hex.AppendEncode(m.text[:0], sum)
	return string(m.text)
}

// standard is the signature of Standard Webhooks, keyed with the bytes behind
// the prefix.
func (s signer) standard(id, timestamp string, payload []byte) string {
	m := macs.Get().(*mac)
	defer macs.Put(m)
	m.text = append(m.text[:0], id...)
	m.text = append(m.text, '.')
	m.text = append(m.text, timestamp...)
	m.text = append(m.text, '.')
	sum := m.of(s.base64, m.text, payload)
	m.text = append(m.text[:0], "v1,"...)
	m.text = base64.StdEncoding.AppendEncode(m.text, sum)
	return string(m.text)
}
