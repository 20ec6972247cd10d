package fetch

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
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// hashes are the algorithms of hmac.
var hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha384": sha512.New384, "sha1": sha1.New, "md5": md5.New}

type stampKey struct{}

// stamped is a moment with the time of the request and a nonce, where these are signed, and a
// context by which the signature has the same.
func (r *run) stamped(ctx context.Context, m spec.Moment) (context.Context, spec.Moment) {
	if !r.signer.stamps() {
		return ctx, m
	}
	now := time.Now()
	m = m.With("timestamp", strconv.FormatInt(now.Unix(), 10)).With("timestampMs", strconv.FormatInt(now.UnixMilli(), 10)).With("nonce", newNonce())
	return context.WithValue(ctx, stampKey{}, m), m
}

type hmacSigner struct {
	plainSigner
	*spec.HMAC
}

func (a hmacSigner) signsAddress() bool { return true }
func (a hmacSigner) stamps() bool       { return true }

func (a hmacSigner) sign(request *http.Request, _ string) {
	m, _ := request.Context().Value(stampKey{}).(spec.Moment)
	if a.In == spec.InQuery {
		request.URL.RawQuery = spec.RemoveQuery(request.URL.RawQuery, a.Name)
	}
	path := request.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	for name, value := range map[string]string{
		"method": request.Method, "host": request.URL.Host, "path": path, "query": request.URL.RawQuery, "url": request.URL.String(), "body": string(sentBody(request)),
	} {
		m = m.With(name, value)
	}
	m.Room = nil
	mac := hmac.New(hashes[a.Algorithm], []byte(a.Secret))
	_, _ = io.WriteString(mac, a.Over.Expand(m, nil))
	sum := mac.Sum(nil)
	signature := hex.EncodeToString(sum)
	switch a.Encoding {
	case "base64":
		signature = base64.StdEncoding.EncodeToString(sum)
	case "base64url":
		signature = base64.RawURLEncoding.EncodeToString(sum)
	}
	if a.In == spec.InHeader {
		request.Header.Set(a.Name, signature)
		return
	}
	request.URL.RawQuery = strings.TrimPrefix(spec.AddQuery(request.URL.RawQuery, a.Name, signature), "&")
}
