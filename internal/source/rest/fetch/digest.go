package fetch

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

type digestSigner struct {
	plainSigner
	*spec.Digest
}

func (a digestSigner) signsAddress() bool   { return true }
func (a digestSigner) digest() *spec.Digest { return a.Digest }

// challenge is what a server asks to be answered with the password.
type challenge struct {
	realm, nonce, opaque, algorithm string
	// qop is auth, auth-int, or empty for servers that know neither.
	qop             string
	userhash, stale bool
}

// digestHashes are the algorithms of challenges, without -sess.
var digestHashes = map[string]func() hash.Hash{"MD5": md5.New, "SHA-256": sha256.New, "SHA-512-256": sha512.New512_256}

// findChallenge is the first challenge of a response that can be answered; the server lists the
// one that it prefers first.
func findChallenge(h http.Header) (c challenge, ok bool) {
	for _, line := range h.Values("Www-Authenticate") {
		for _, part := range splitChallenges(line) {
			scheme, rest, _ := strings.Cut(part, " ")
			if !strings.EqualFold(scheme, "Digest") {
				continue
			}
			if c, ok = parseChallenge(rest); ok {
				return c, true
			}
		}
	}
	return c, false
}

// asksForDigest reports whether a response asks for digest authentication.
func asksForDigest(h http.Header) bool {
	for _, line := range h.Values("Www-Authenticate") {
		for _, part := range splitChallenges(line) {
			if scheme, _, _ := strings.Cut(part, " "); strings.EqualFold(scheme, "Digest") {
				return true
			}
		}
	}
	return false
}

// splitChallenges splits a header with several challenges: each begins with a word that no =
// follows.
func splitChallenges(line string) (all []string) {
	for _, item := range splitOutsideQuotes(line) {
		name, _, _ := strings.Cut(item, "=")
		if scheme, parameter, spaced := strings.Cut(strings.TrimSpace(name), " "); len(all) == 0 || spaced && scheme != "" && parameter != "" || !strings.Contains(item, "=") {
			all = append(all, strings.TrimSpace(item))
		} else {
			all[len(all)-1] += "," + item
		}
	}
	return all
}

// splitOutsideQuotes splits a text at the commas that are not inside quotes.
func splitOutsideQuotes(text string) (items []string) {
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			items = append(items, text[start:i])
			start = i + 1
		}
	}
	return append(items, text[start:])
}

// parseChallenge reads the parameters of a challenge, and reports whether it can be answered.
func parseChallenge(text string) (c challenge, ok bool) {
	c.algorithm = "MD5"
	offered := ""
	for _, item := range splitOutsideQuotes(text) {
		name, value, _ := strings.Cut(item, "=")
		value = unquoted(strings.TrimSpace(value))
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "realm":
			c.realm = value
		case "nonce":
			c.nonce, ok = value, value != ""
		case "opaque":
			c.opaque = value
		case "algorithm":
			c.algorithm = strings.ToUpper(value)
		case "qop":
			offered = value
		case "userhash":
			c.userhash = strings.EqualFold(value, "true")
		case "stale":
			c.stale = strings.EqualFold(value, "true")
		}
	}
	var kinds []string
	for kind := range strings.SplitSeq(offered, ",") {
		kinds = append(kinds, strings.ToLower(strings.TrimSpace(kind)))
	}
	for _, kind := range []string{"auth", "auth-int"} {
		if c.qop == "" && slices.Contains(kinds, kind) {
			c.qop = kind
		}
	}
	_, known := digestHashes[strings.TrimSuffix(c.algorithm, "-SESS")]
	return c, ok && known && (offered == "" || c.qop != "")
}

// unquoted is a value without its quotes.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' {
		return text
	}
	var b strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i < len(text)-2 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// answer is the header by which a request answers a challenge, for the use of its nonce of
// that number.
func (c *challenge) answer(a *spec.Digest, request *http.Request, cnonce string, use int64) string {
	h := func(text string) string {
		sum := digestHashes[strings.TrimSuffix(c.algorithm, "-SESS")]()
		_, _ = io.WriteString(sum, text)
		return hex.EncodeToString(sum.Sum(nil))
	}
	secret := h(a.Name + ":" + c.realm + ":" + a.Password)
	if strings.HasSuffix(c.algorithm, "-SESS") {
		secret = h(secret + ":" + c.nonce + ":" + cnonce)
	}
	uri := request.URL.RequestURI()
	signed := request.Method + ":" + uri
	if c.qop == "auth-int" {
		signed += ":" + h(string(sentBody(request)))
	}
	count := fmt.Sprintf("%08x", use)
	response := h(secret + ":" + c.nonce + ":" + h(signed))
	if c.qop != "" {
		response = h(strings.Join([]string{secret, c.nonce, count, cnonce, c.qop, h(signed)}, ":"))
	}
	fields := []string{c.user(a.Name, h), "realm=" + quotedValue(c.realm), "uri=" + quotedValue(uri), "algorithm=" + strings.Replace(c.algorithm, "-SESS", "-sess", 1), "nonce=" + quotedValue(c.nonce)}
	if c.qop != "" {
		fields = append(fields, "nc="+count, "cnonce="+quotedValue(cnonce), "qop="+c.qop)
	}
	fields = append(fields, "response="+quotedValue(response))
	if c.opaque != "" {
		fields = append(fields, "opaque="+quotedValue(c.opaque))
	}
	if c.userhash {
		fields = append(fields, "userhash=true")
	}
	return "Digest " + strings.Join(fields, ", ")
}

// user is the field with the name of the user.
func (c *challenge) user(name string, h func(string) string) string {
	if c.userhash {
		return "username=" + quotedValue(h(name+":"+c.realm))
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r > 0x7e || r < ' ' }) {
		return "username*=UTF-8''" + url.PathEscape(name)
	}
	return "username=" + quotedValue(name)
}

func quotedValue(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// digestState is the last challenge of a fetch, and how often its nonce was used.
type digestState struct {
	mu      sync.Mutex
	current *challenge
	uses    int64
}

// sign answers the last challenge, where there is one. It returns the nonce.
func (d *digestState) sign(a *spec.Digest, request *http.Request) (nonce string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil {
		return ""
	}
	d.uses++
	request.Header.Set("Authorization", d.current.answer(a, request, newNonce(), d.uses))
	return d.current.nonce
}

// take makes a challenge the last one, unless another request has brought one since the nonce
// was used.
func (d *digestState) take(c challenge, used string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil || d.current.nonce == used {
		d.current, d.uses = &c, 0
	}
}

// maxChallenges is how often one request answers a challenge.
const maxChallenges = 3

// challenged reports whether a response asks for an answer that the request did not have: a
// first one, or one to another nonce where the server says that the old one is stale, or has
// accepted it before.
func (e *exchange) challenged(request *http.Request, response *http.Response) bool {
	if !e.signed || e.signer.digest() == nil || response.StatusCode != http.StatusUnauthorized || !spec.SameOrigin(request.URL, e.spec.Request.Origin) {
		return false
	}
	c, ok := findChallenge(response.Header)
	if !ok || e.challenges >= maxChallenges || e.nonce != "" && !c.stale && e.challenges > 0 {
		return false
	}
	e.challenges++
	e.digest.take(c, e.nonce)
	return true
}
