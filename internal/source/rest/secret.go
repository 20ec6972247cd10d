package rest

import (
	"net/url"
	"slices"
	"strings"
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

// moveSecrets moves parameters that look like secrets from the text of a URL,
// where they would be seen, to the query of the request. Where the query has
// the name already, or cannot be told, the URL stays as it is and is refused
// later.
func moveSecrets(request *node) {
	if request == nil || request.kind != '{' {
		return
	}
	text := request.member("url")
	if text == nil || text.kind != '"' {
		return
	}
	before, query, found := strings.Cut(text.text(), "?")
	if !found {
		return
	}
	into := node{kind: '{'}
	if old := request.member("query"); old != nil {
		if old.kind != '{' && old.kind != 'n' {
			return
		}
		into.members = old.members
	}
	var stay []string
	for pair := range strings.SplitSeq(query, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		value, err2 := url.QueryUnescape(rawValue)
		if err != nil || err2 != nil || !looksSecret(name) || into.member(name) != nil {
			stay = append(stay, pair)
			continue
		}
		into.set(name, textNode(value))
	}
	if len(into.members) == 0 {
		return
	}
	moved := before
	if len(stay) > 0 {
		moved += "?" + strings.Join(stay, "&")
	}
	*text = textNode(moved)
	request.set("query", into)
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
