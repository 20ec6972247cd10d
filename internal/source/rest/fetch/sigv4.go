package fetch

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

type awsSigner struct {
	plainSigner
	*spec.AWSKey
}

func (a awsSigner) sign(request *http.Request, _ string) { a.signAt(request, time.Now()) }
func (a awsSigner) signsAddress() bool                   { return true }

// signAt signs a request in the way of Amazon's services (Signature Version 4).
func (a awsSigner) signAt(request *http.Request, now time.Time) {
	now = now.UTC()
	stamp, day := now.Format("20060102T150405Z"), now.Format("20060102")
	body := sha256.Sum256(sentBody(request))
	// A blank is sent as it is signed.
	request.URL.RawQuery = strings.ReplaceAll(request.URL.RawQuery, "+", "%20")
	request.Header.Set("X-Amz-Date", stamp)
	request.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(body[:]))
	setUnlessEmpty(request.Header, "X-Amz-Security-Token", a.Session)
	headers := map[string]string{"host": request.URL.Host}
	for name, values := range request.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") || name == "content-type" {
			headers[name] = strings.TrimSpace(strings.Join(values, ","))
		}
	}
	var names []string
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	signed := strings.Join(names, ";")
	var canonical strings.Builder
	canonical.WriteString(request.Method + "\n" + a.canonicalPath(request.URL) + "\n" + canonicalQuery(request.URL) + "\n")
	for _, name := range names {
		canonical.WriteString(name + ":" + headers[name] + "\n")
	}
	canonical.WriteString("\n" + signed + "\n" + hex.EncodeToString(body[:]))
	scope := day + "/" + a.Region + "/" + a.Service + "/aws4_request"
	hash := sha256.Sum256([]byte(canonical.String()))
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(hash[:])
	key := []byte("AWS4" + a.Secret)
	for _, part := range []string{day, a.Region, a.Service, "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		_, _ = io.WriteString(mac, part)
		key = mac.Sum(nil)
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+a.ID+"/"+scope+", SignedHeaders="+signed+", Signature="+hex.EncodeToString(key))
}

// canonicalPath is the path as it is signed: without dots and empty segments, and encoded
// once more than it is sent, except for S3.
func (a awsSigner) canonicalPath(u *url.URL) string {
	escaped := cmp.Or(u.EscapedPath(), "/")
	if a.Service == "s3" {
		return escaped
	}
	clean := path.Clean("/" + escaped)
	if strings.HasSuffix(escaped, "/") && clean != "/" {
		clean += "/"
	}
	segments := strings.Split(clean, "/")
	for i := range segments {
		segments[i] = escapeStrictly(segments[i])
	}
	return strings.Join(segments, "/")
}

// canonicalQuery is the query as it is signed: encoded strictly and sorted.
func canonicalQuery(u *url.URL) string { return canonicalPairs(queryPairs(u.RawQuery)) }

// escapeStrictly encodes everything but what RFC 3986 calls unreserved.
func escapeStrictly(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "%7E", "~")
}
