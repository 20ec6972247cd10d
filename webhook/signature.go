package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// The headers of a delivery that are read here.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	headerPlain     = "X-Service-Signature"
	headerPlainNext = "X-Service-Signature-Next"
	headerDelivery  = "X-Service-Delivery"
	headerAttempt   = "X-Service-Attempt"
)

// key is a signing secret in the two forms that the two schemes sign with.
type key struct {
	text  []byte // as it was returned, prefix included
	bytes []byte // what the base64 behind the prefix stands for
}

func newKey(secret string) (key, error) {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok {
		return key{}, fmt.Errorf("%w: it must start with whsec_", ErrSecret)
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	// The decoder passes over line breaks, which would be part of the text.
	if err != nil || len(decoded) == 0 || base64.StdEncoding.EncodeToString(decoded) != encoded {
		return key{}, fmt.Errorf("%w: the part after whsec_ is not base64", ErrSecret)
	}
	return key{text: []byte(secret), bytes: decoded}, nil
}

// standard is the entry of webhook-signature that the key gives.
func (k key) standard(id, timestamp string, payload []byte) string {
	mac := hmac.New(sha256.New, k.bytes)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(payload)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// plain is the value of x-service-signature that the key gives.
func (k key) plain(payload []byte) string {
	mac := hmac.New(sha256.New, k.text)
	mac.Write(payload)
	return hex.EncodeToString(mac.Sum(nil))
}

// containsSignature reports whether an entry of webhook-signature is the one
// wanted. Entries of other versions are passed over.
func containsSignature(signatures, want string) bool {
	for entry := range strings.SplitSeq(signatures, " ") {
		if equal(entry, want) {
			return true
		}
	}
	return false
}

// equal compares in a time that does not tell how much of got is right.
func equal(got, want string) bool { return hmac.Equal([]byte(got), []byte(want)) }
