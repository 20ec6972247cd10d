package deliver

import (
	"cmp"
	"crypto/sha256"
	"encoding"
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
func sign(set func(name, value string), secrets feedmill.SigningSecrets, m *feedmill.Message) {
	secrets = secrets.At(m.At)
	timestamp := strconv.FormatInt(m.At.Unix(), 10)
	s := signers.Get().(*signer)
	defer signers.Put(s)
	s.use(secrets.Current)
	set("X-Service-Signature", s.service(m.Payload))
	id := cmp.Or(m.BatchID, string(m.Delivery))
	standard := s.standard(id, timestamp, m.Payload)
	if secrets.Next != "" {
		s.use(secrets.Next)
		set("X-Service-Signature-Next", s.service(m.Payload))
		standard += " " + s.standard(id, timestamp, m.Payload)
	}
	set("Webhook-Id", id)
	set("Webhook-Timestamp", timestamp)
	set("Webhook-Signature", standard)
}

// signers are a few that lanes share. Kept for each of them, signers would be most of
// what a subscription that is sent to takes of memory.
var signers = sync.Pool{New: func() any { return &signer{mac: mac{hash: sha256.New()}} }}

// signer signs with one secret at a time. The next text is often signed with the same
// one, because a lane's turn is several tasks, so what was made of it is kept until
// another is used.
type signer struct {
	mac
	secret        string
	plain, base64 key
}

// use makes it sign with a secret.
func (s *signer) use(secret string) {
	if s.secret == secret {
		return
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, feedmill.SecretPrefix))
	if err != nil {
		panic("a signing secret that is no base64") // they are made here
	}
	s.prepare(&s.plain, []byte(secret))
	s.prepare(&s.base64, decoded)
	s.secret = secret
}

// service is the hex HMAC-SHA256 of the payload, keyed with the secret as the
// client has it, prefix included.
func (s *signer) service(payload []byte) string {
	sum := s.of(&s.plain, nil, payload)
	s.text = hex.AppendEncode(s.text[:0], sum)
	return string(s.text)
}

// standard is the signature of Standard Webhooks, keyed with the bytes behind
// the prefix.
func (s *signer) standard(id, timestamp string, payload []byte) string {
	s.text = append(s.text[:0], id...)
	s.text = append(s.text, '.')
	s.text = append(s.text, timestamp...)
	s.text = append(s.text, '.')
	sum := s.of(&s.base64, s.text, payload)
	s.text = append(s.text[:0], "v1,"...)
	s.text = base64.StdEncoding.AppendEncode(s.text, sum)
	return string(s.text)
}

// mac makes HMACs with SHA-256, one after the other, with any keys. That of the
// library belongs to one key for good.
type mac struct {
	hash hash.Hash
	sum  [sha256.Size]byte
	text []byte // room for what it is made of, or as
}

// key is a key as the states that the hash is in behind the two blocks made of it.
type key struct{ inner, outer []byte }

// prepare makes a key of a text, in the memory of another one.
func (m *mac) prepare(k *key, text []byte) {
	if len(text) > sha256.BlockSize { // it stands for its hash
		sum := sha256.Sum256(text)
		text = sum[:]
	}
	k.inner = m.behind(k.inner, text, 0x36)
	k.outer = m.behind(k.outer, text, 0x5c)
}

// behind is the state of the hash behind a block made of a text.
func (m *mac) behind(state, text []byte, pad byte) []byte {
	var block [sha256.BlockSize]byte
	copy(block[:], text)
	for i := range block {
		block[i] ^= pad
	}
	m.hash.Reset()
	m.hash.Write(block[:])
	state, err := m.hash.(encoding.BinaryAppender).AppendBinary(state[:0])
	if err != nil {
		panic(err) // that of the library has a state
	}
	return state
}

// of is the HMAC of two texts together. The next one overwrites it.
func (m *mac) of(k *key, a, b []byte) []byte {
	m.resume(k.inner)
	m.hash.Write(a)
	m.hash.Write(b)
	inner := m.hash.Sum(m.sum[:0])
	m.resume(k.outer)
	m.hash.Write(inner)
	return m.hash.Sum(m.sum[:0])
}

// resume puts the hash into a state that it was in.
func (m *mac) resume(state []byte) {
	if err := m.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		panic(err) // it is the hash's own
	}
}
