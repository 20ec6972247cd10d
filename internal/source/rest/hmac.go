package rest

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// hashes are the algorithms of hmac.
var hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha384": sha512.New384, "sha1": sha1.New, "md5": md5.New}

// The tokens of a request that is signed with hmac: those that the request may have, and
// those that only the text which is signed may have.
var (
	stampWords  = []string{"timestamp", "timestampMs", "nonce"}
	signedWords = []string{"method", "host", "path", "query", "url", "body"}
)

// hmacSigning is what is signed with a shared secret, how the signature is written, and where it
// is sent.
type hmacSigning struct {
	noAuth
	secret    string
	algorithm string
	over      template
	encoding  string
	in, name  string
}

func (a *hmacSigning) tell(add func(...string)) {
	add(authHMAC, a.secret, a.in, a.name, a.algorithm, a.over.text)
}

func (a *hmacSigning) hide(m *mask) {
	if m.add(a.secret); a.in == inQuery {
		m.named = append(m.named, a.name)
	}
}

// readStampWords has the requests of a source that is signed with hmac know its tokens.
func readStampWords(o *object) {
	if a := o.Value.Member("auth"); a != nil && a.Kind == '{' {
		if kind := a.Member("kind"); kind != nil && kind.Kind == '"' && kind.Text() == authHMAC {
			o.r.variables = append(o.r.variables, stampWords...)
		}
	}
}

// readHMAC reads how a text that describes the request is signed with a shared secret.
func readHMAC(o *object) auth {
	a := new(hmacSigning)
	a.algorithm = o.choice("algorithm", "sha256", "sha256", "sha512", "sha384", "sha1", "md5")
	a.encoding = o.choice("encoding", "hex", "hex", "base64", "base64url")
	a.secret = o.needText("secret")
	o.secret("secret")
	variables := o.r.variables
	for _, word := range variables[:len(variables)-len(stampWords)] { // the word of each
		if slices.Contains(slices.Concat(stampWords, signedWords), word) {
			o.r.fault("/each/as", "With auth.kind hmac, "+word+" is a token of the request; use another word.")
		}
	}
	o.r.variables = append(slices.Clone(variables), signedWords...)
	if o.needText("over") != "" {
		a.over, _ = o.template("over")
	}
	o.r.variables = variables
	switch {
	case o.Has("header") == o.Has("param"):
		o.unreadable("header", "Set where the signature is sent: either header or param.")
		o.Know("param")
	case o.Has("header"):
		a.in, a.name = inHeader, o.needText("header")
		if wrong := wrongHeader(a.name); a.name != "" && wrong != "" {
			o.Fault("header", wrong)
		}
	default:
		a.in, a.name = inQuery, o.needText("param")
	}
	if !httpguts.ValidHeaderFieldValue(a.name) {
		o.Fault("param", "param must not contain control characters.")
	}
	return a
}

type stampKey struct{}

// stamped is a moment with the time of the request and a nonce, where these are signed, and a
// context by which the signature has the same.
func (r *run) stamped(ctx context.Context, m moment) (context.Context, moment) {
	if !r.signer.stamps() {
		return ctx, m
	}
	now := time.Now()
	m = m.with("timestamp", strconv.FormatInt(now.Unix(), 10)).with("timestampMs", strconv.FormatInt(now.UnixMilli(), 10)).with("nonce", newNonce())
	return context.WithValue(ctx, stampKey{}, m), m
}

type hmacSigner struct {
	plainSigner
	*hmacSigning
}

func (a hmacSigner) signsAddress() bool { return true }
func (a hmacSigner) stamps() bool       { return true }

func (a hmacSigner) sign(request *http.Request, _ string) {
	m, _ := request.Context().Value(stampKey{}).(moment)
	if a.in == inQuery {
		request.URL.RawQuery = removeQuery(request.URL.RawQuery, a.name)
	}
	path := request.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	for name, value := range map[string]string{
		"method": request.Method, "host": request.URL.Host, "path": path, "query": request.URL.RawQuery, "url": request.URL.String(), "body": string(sentBody(request)),
	} {
		m = m.with(name, value)
	}
	m.room = nil
	mac := hmac.New(hashes[a.algorithm], []byte(a.secret))
	_, _ = io.WriteString(mac, a.over.expand(m, nil))
	sum := mac.Sum(nil)
	signature := hex.EncodeToString(sum)
	switch a.encoding {
	case "base64":
		signature = base64.StdEncoding.EncodeToString(sum)
	case "base64url":
		signature = base64.RawURLEncoding.EncodeToString(sum)
	}
	if a.in == inHeader {
		request.Header.Set(a.name, signature)
		return
	}
	request.URL.RawQuery = strings.TrimPrefix(addQuery(request.URL.RawQuery, a.name, signature), "&")
}
