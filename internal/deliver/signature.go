package deliver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// sign sets the signature headers. x-service-signature stays with the current
// secret during a rotation; the next one signs beside it.
func sign(h http.Header, secrets feedmill.SigningSecrets, m Message) {
	secrets = secrets.At(m.At)
	timestamp := strconv.FormatInt(m.At.Unix(), 10)
	h.Set("X-Service-Signature", serviceSignature(secrets.Current, m.Payload))
	standard := standardSignature(secrets.Current, string(m.Delivery), timestamp, m.Payload)
	if secrets.Next != "" {
		h.Set("X-Service-Signature-Next", serviceSignature(secrets.Next, m.Payload))
		standard += " " + standardSignature(secrets.Next, string(m.Delivery), timestamp, m.Payload)
	}
	h.Set("Webhook-Id", string(m.Delivery))
	h.Set("Webhook-Timestamp", timestamp)
	h.Set("Webhook-Signature", standard)
}

// serviceSignature is the hex HMAC-SHA256 of the payload, keyed with the
// secret as the client has it, prefix included.
func serviceSignature(secret string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(payload)
	return hex.EncodeToString(mac.Sum(nil))
}

// standardSignature is the signature of Standard Webhooks, keyed with the bytes
// behind the prefix.
func standardSignature(secret, id, timestamp string, payload []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, feedmill.SecretPrefix))
	if err != nil {
		panic("a signing secret that is no base64") // they are made here
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(payload)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
