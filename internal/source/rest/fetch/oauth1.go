package fetch

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

type oauth1Signer struct {
	plainSigner
	*spec.OAuth1
}

func (a oauth1Signer) sign(request *http.Request, _ string) {
	a.signAt(request, time.Now(), newNonce())
}

func (a oauth1Signer) signsAddress() bool { return true }

// signAt signs a request with HMAC-SHA1.
func (a oauth1Signer) signAt(request *http.Request, now time.Time, nonce string) {
	own := [][2]string{
		{"oauth_consumer_key", a.Key},
		{"oauth_nonce", nonce},
		{"oauth_signature_method", "HMAC-SHA1"},
		{"oauth_timestamp", strconv.FormatInt(now.Unix(), 10)},
	}
	if a.Token != "" {
		own = append(own, [2]string{"oauth_token", a.Token})
	}
	mac := hmac.New(sha1.New, []byte(escapeStrictly(a.Secret)+"&"+escapeStrictly(a.TokenSecret)))
	_, _ = io.WriteString(mac, oauth1Base(request, own))
	own = append(own, [2]string{"oauth_signature", base64.StdEncoding.EncodeToString(mac.Sum(nil))})
	fields := make([]string, len(own))
	for i, p := range own {
		fields[i] = p[0] + `="` + escapeStrictly(p[1]) + `"`
	}
	request.Header.Set("Authorization", "OAuth "+strings.Join(fields, ", "))
}

// oauth1Base is the text that is signed: the method, the address and all parameters, those of
// a form included.
func oauth1Base(request *http.Request, own [][2]string) string {
	pairs := append(slices.Clone(own), queryPairs(request.URL.RawQuery)...)
	if mediaType, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";"); strings.TrimSpace(mediaType) == "application/x-www-form-urlencoded" {
		pairs = append(pairs, queryPairs(string(sentBody(request)))...)
	}
	u := request.URL
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return strings.Join([]string{request.Method, escapeStrictly(u.Scheme + "://" + host + path), escapeStrictly(canonicalPairs(pairs))}, "&")
}

// queryPairs are the names and values of a query or a form, decoded.
func queryPairs(query string) (pairs [][2]string) {
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			name = rawName
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			value = rawValue
		}
		pairs = append(pairs, [2]string{name, value})
	}
	return pairs
}

// canonicalPairs encodes names and values strictly, and sorts them by name and then by value.
func canonicalPairs(pairs [][2]string) string {
	encoded := make([][2]string, len(pairs))
	for i, p := range pairs {
		encoded[i] = [2]string{escapeStrictly(p[0]), escapeStrictly(p[1])}
	}
	slices.SortFunc(encoded, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	texts := make([]string, len(encoded))
	for i, p := range encoded {
		texts[i] = p[0] + "=" + p[1]
	}
	return strings.Join(texts, "&")
}

// sentBody is the body of a request.
func sentBody(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	reader, err := request.GetBody()
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(reader)
	return text
}

// newNonce is a text that no other request has.
func newNonce() string { return strings.ToLower(rand.Text()) }
