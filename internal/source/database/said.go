package database

import (
	"strings"

	"github.com/feedmill/feedmill"
)

const (
	// maxSaid is how much is kept of a message or a comment of a database.
	maxSaid = 2 << 10
	// maxSaidHead is how much of it is searched for secrets: one is found whole also where
	// the text is cut.
	maxSaidHead = 16 << 10
	// minSecret is how long a secret must be to be searched for.
	minSecret = 4
)

// Said is a message or a comment of a database as it is kept: cut, and without secrets.
func Said(text string, secrets ...string) string {
	text = feedmill.CutText(text, maxSaidHead)
	for _, secret := range secrets {
		text = hide(text, secret)
	}
	return feedmill.CutText(text, maxSaid)
}

// hide masks a secret in a text.
func hide(text, secret string) string {
	if len(secret) < minSecret {
		return text
	}
	text = strings.ReplaceAll(text, secret, "***")
	// A stored text can be cut within the secret.
	for n := len(secret) - 1; n >= minSecret; n-- {
		if head, cut := strings.CutSuffix(text, secret[:n]+"…"); cut {
			return head + "***…"
		}
	}
	return text
}

// Said is a message or a comment of the server as it is kept.
func (s Server) Said(text string) string { return Said(text, s.Password) }
