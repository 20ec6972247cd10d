package mail

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// The paths of the pages that links open.
const (
	ConfirmPath     = "/ui/mail/confirm/"
	UnsubscribePath = "/ui/mail/unsubscribe/"
)

// maxTokens is the maximum number of subscriptions that a link confirms.
const maxTokens = 10

// links makes and checks the tokens of a subscription. A token names the subscription and
// proves with the key of its address that it is from a message to that address.
type links struct {
	key       []byte
	publicURL string
}

// mac proves a purpose: what the token is for, and until when.
func (l links) mac(purpose string, id feedmill.ID, until time.Time) string {
	h := hmac.New(sha256.New, l.key)
	h.Write([]byte(purpose + "\x00" + string(id) + "\x00" + expiry(until)))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func expiry(until time.Time) string {
	if until.IsZero() {
		return "0"
	}
	return strconv.FormatInt(until.Unix(), 10)
}

// confirm is the token that confirms a subscription until a time.
func (l links) confirm(id feedmill.ID, until time.Time) string {
	return string(id) + "." + expiry(until) + "." + l.mac("confirm", id, until)
}

// unsubscribe is the token that ends a subscription. It is valid as long as the address is
// that of the subscription.
func (l links) unsubscribe(id feedmill.ID) string {
	return string(id) + ".0." + l.mac("unsubscribe", id, time.Time{})
}

// unsubscribeURL is what the header List-Unsubscribe has.
func (l links) unsubscribeURL(id feedmill.ID) string {
	return l.publicURL + UnsubscribePath + l.unsubscribe(id)
}

// token is one that was read and not checked yet.
type token struct {
	id    feedmill.ID
	until time.Time // zero for one that does not expire
	mac   string
}

// parseTokens reads the tokens of a link.
func parseTokens(text string) (all []token, ok bool) {
	parts := strings.Split(text, "~")
	if len(parts) > maxTokens {
		return nil, false
	}
	for _, part := range parts {
		fields := strings.Split(part, ".")
		if len(fields) != 3 || !feedmill.IsID(feedmill.PrefixSubscription, fields[0]) {
			return nil, false
		}
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return nil, false
		}
		t := token{id: feedmill.ID(fields[0]), mac: fields[2]}
		if seconds != 0 {
			t.until = time.Unix(seconds, 0)
		}
		all = append(all, t)
	}
	return all, true
}

// proves reports whether a token is valid for a purpose, whatever the time.
func (l links) proves(t token, purpose string) bool {
	return len(l.key) > 0 && hmac.Equal([]byte(t.mac), []byte(l.mac(purpose, t.id, t.until)))
}
