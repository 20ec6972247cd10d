package spec

import (
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// secretNames are what the names of secrets have in them.
var secretNames = []string{"authorization", "cookie", "key", "token", "secret", "password", "passwd", "credential", "signature"}

// secretWords are whole names of secrets, which mean other things inside of
// longer ones.
var secretWords = []string{"sig", "code", "pwd", "pass", "pin", "auth", "x-auth", "sid", "session", "sessionid", "jwt"}

// looksSecret reports whether a header or a parameter of the name is likely to
// hold a secret.
func looksSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(secretWords, name) || slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

// masks reports whether a secret, or one of its values, is the text that secrets are shown as.
func masks(v *strictjson.Value) bool {
	if isHidden(v) {
		return true
	}
	for i := range v.Members {
		if masks(&v.Members[i].Value) {
			return true
		}
	}
	for i := range v.Items {
		if masks(&v.Items[i]) {
			return true
		}
	}
	return false
}

// moveSecrets moves parameters that look like secrets from the text of a URL,
// where they would be seen, to the query of the request. Where the query has
// the name already, or cannot be told, the URL stays as it is and is refused
// later.
func moveSecrets(request *strictjson.Value) {
	if request == nil || request.Kind != '{' {
		return
	}
	text := request.Member("url")
	if text == nil || text.Kind != '"' {
		return
	}
	before, query, found := strings.Cut(text.Text(), "?")
	if !found {
		return
	}
	into := strictjson.Value{Kind: '{'}
	if old := request.Member("query"); old != nil {
		if old.Kind != '{' && old.Kind != 'n' {
			return
		}
		into.Members = old.Members
	}
	var stay []string
	for pair := range strings.SplitSeq(query, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		value, err2 := url.QueryUnescape(rawValue)
		if err != nil || err2 != nil || !looksSecret(name) || into.Member(name) != nil {
			stay = append(stay, pair)
			continue
		}
		into.Set(name, strictjson.String(value))
	}
	if len(into.Members) == 0 {
		return
	}
	moved := before
	if len(stay) > 0 {
		moved += "?" + strings.Join(stay, "&")
	}
	*text = strictjson.String(moved)
	request.Set("query", into)
}

// holdsSecret reports whether a parameter in the text of a URL looks like a
// secret.
func holdsSecret(text string) bool {
	_, query, _ := strings.Cut(text, "?")
	for pair := range strings.SplitSeq(query, "&") {
		rawName, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if looksSecret(rawName) || err == nil && looksSecret(name) {
			return true
		}
	}
	return false
}
