package fetch

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

func requestTo(t *testing.T, method, address, body, contentType string) *http.Request {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRequest(t.Context(), method, u, body, contentType)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The examples of RFC 5849, sections 1.2 and 3.4.1.1.
func TestOAuth1Vectors(t *testing.T) {
	base := oauth1Base(requestTo(t, "POST", "http://EXAMPLE.com:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", "c2&a3=2+q", "application/x-www-form-urlencoded"), [][2]string{
		{"oauth_consumer_key", "9djdj82h48djs9d2"}, {"oauth_token", "kkk9d7dh3k39sjv7"}, {"oauth_signature_method", "HMAC-SHA1"}, {"oauth_timestamp", "137131201"}, {"oauth_nonce", "7d8f3e4a"},
	})
	const want = "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
	if base != want {
		t.Errorf("%s\nwant\n%s", base, want)
	}
	r := requestTo(t, "GET", "http://photos.example.net/photos?file=vacation.jpg&size=original", "", "")
	a := oauth1Signer{OAuth1: &spec.OAuth1{Key: "dpf43f3p2l4k3l03", Secret: "kd94hf93k423kf44", Token: "nnch734d00sl2jdk", TokenSecret: "pfkkdhi9sl3r4s00"}}
	a.signAt(r, time.Unix(137131202, 0), "chapoH")
	if got := r.Header.Get("Authorization"); !strings.HasPrefix(got, "OAuth ") || !strings.Contains(got, `oauth_signature="MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D"`) || !strings.Contains(got, `oauth_token="nnch734d00sl2jdk"`) {
		t.Error(got)
	}
}

// The examples of "Authenticating Requests" in the reference of Amazon S3.
func TestSigV4Vectors(t *testing.T) {
	a := awsSigner{AWSKey: &spec.AWSKey{ID: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", Region: "us-east-1", Service: "s3"}}
	for query, signature := range map[string]string{
		"lifecycle":           "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		"max-keys=2&prefix=J": "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
		"prefix=J&max-keys=2": "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
	} {
		r := requestTo(t, "GET", "https://examplebucket.s3.amazonaws.com/?"+query, "", "")
		a.signAt(r, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="+signature) {
			t.Errorf("%s: %s", query, got)
		}
	}
	// Names are sorted before their values are added: "=" comes after "-" and digits.
	if got := canonicalQuery(&url.URL{RawQuery: "a1=x&a-b=z&a=2&a=1+1"}); got != "a=1%201&a=2&a-b=z&a1=x" {
		t.Error(got)
	}
}

// hmacOf is a signature as the documentation of most APIs describes it.
func hmacOf(secret, text string) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, text)
	return mac.Sum(nil)
}

// The token of a session is sent and signed, as the documentation of Signature Version 4 says.
func TestSessionTokens(t *testing.T) {
	l := newLab(t)
	l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Get("Authorization")
		_, signed, _ := strings.Cut(header, "SignedHeaders=")
		signed, signature, _ := strings.Cut(signed, ", Signature=")
		text := "GET\n/data\nlimit=5&x=a%20b\n"
		for name := range strings.SplitSeq(signed, ";") {
			value := r.Header.Get(name)
			if name == "host" {
				value = r.Host
			}
			text += name + ":" + value + "\n"
		}
		empty := sha256.Sum256(nil)
		text += "\n" + signed + "\n" + hex.EncodeToString(empty[:])
		sum := sha256.Sum256([]byte(text))
		stamp := r.Header.Get("X-Amz-Date")
		scope := stamp[:8] + "/eu-west-1/execute-api/aws4_request"
		key := hmacOf("AWS4s3cret", stamp[:8])
		for _, part := range []string{"eu-west-1", "execute-api", "aws4_request", "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(sum[:])} {
			key = hmacOf(string(key), part)
		}
		if !strings.Contains(signed, "x-amz-security-token") || r.Header.Get("X-Amz-Security-Token") != "t0ken/1" || signature != hex.EncodeToString(key) || !strings.Contains(header, "Credential=AKID/"+scope) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if r.URL.Path == "/data" && r.URL.Query().Get("limit") == "5" {
			respond(w, `[{"id":1}]`)
		}
	})
	_, result, err := l.fetch(`{"request":{"url":"https://api.test/data?x=a+b&limit=5"},"auth":{"kind":"awsSigV4","accessKeyId":"AKID","secretAccessKey":"s3cret","sessionToken":"t0ken/1","region":"eu-west-1","service":"execute-api"}}`)
	if err != nil || result.Records != 1 {
		t.Errorf("%+v %v\n%s", result, err, l.trace())
	}
}

// Requests are signed with a shared secret, over what the definition says of them.
func TestHMAC(t *testing.T) {
	l := newLab(t)
	var nonces []string
	l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/orders?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
			return
		}
		at, nonce := r.Header.Get("X-Time"), r.Header.Get("X-Nonce")
		signature := base64.StdEncoding.EncodeToString(hmacOf("s3cret", at+nonce+r.Method+r.URL.EscapedPath()+"?"+r.URL.RawQuery+"\n"+string(sent)))
		if r.Header.Get("X-Signature") != signature || slices.Contains(nonces, nonce) || at == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		nonces = append(nonces, nonce)
		if r.URL.Query().Get("page") == "3" {
			respond(w, `[]`)
			return
		}
		respond(w, fmt.Sprintf(`[{"id":%s}]`, r.URL.Query().Get("page")))
	})
	const signed = `"auth":{"kind":"hmac","secret":"s3cret","over":"{{timestamp}}{{nonce}}{{method}}{{path}}?{{query}}\n{{body}}","header":"X-Signature","encoding":"base64"}`
	for _, path := range []string{"orders", "moved"} {
		_, result, err := l.fetch(`{"request":{"method":"POST","url":"https://api.test/` + path + `?a=b%20c","headers":{"X-Time":"{{timestamp}}","X-Nonce":"{{nonce}}"},"body":{"kind":"json","value":{"at":"{{today}}"}}},"pagination":{"kind":"page","in":"query"},` + signed + `}`)
		if err != nil || result.Records != 2 {
			t.Errorf("%s: %+v %v\n%s", path, result, err, l.trace())
		}
	}
	// As Binance documents it: the signature of the query is its last parameter.
	l.serve("binance.test", func(w http.ResponseWriter, r *http.Request) {
		query, signature, _ := strings.Cut(r.URL.RawQuery, "&signature=")
		if signature != hex.EncodeToString(hmacOf("s3cret", query)) || len(r.URL.Query().Get("timestamp")) != 13 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		respond(w, `[{"id":1}]`)
	})
	_, result, err := l.fetch(`{"request":{"url":"https://binance.test/api/v3/allOrders","query":{"symbol":"LTCBTC","timestamp":"{{timestampMs}}"}},"auth":{"kind":"hmac","algorithm":"sha256","secret":"s3cret","over":"{{query}}","param":"signature"}}`)
	if trace := l.trace(); err != nil || result.Records != 1 || !strings.Contains(trace, "signature=***") {
		t.Errorf("%+v %v\n%s", result, err, trace)
	}
}

// An OAuth 1.0 client signs for itself, or for the user that gave it a token.
func TestOAuth1(t *testing.T) {
	l := newLab(t)
	l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
		fields := map[string]string{}
		for field := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "OAuth "), ", ") {
			name, value, _ := strings.Cut(field, "=")
			fields[name], _ = url.PathUnescape(strings.Trim(value, `"`))
		}
		if fields["oauth_consumer_key"] != "app" || fields["oauth_signature_method"] != "HMAC-SHA1" || fields["oauth_signature"] == "" || fields["oauth_nonce"] == "" || fields["oauth_token"] != r.URL.Query().Get("who") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		respond(w, `[{"id":1}]`)
	})
	for _, test := range []string{
		`{"request":{"url":"https://api.test/?who="},"auth":{"kind":"oauth1","consumerKey":"app","consumerSecret":"s3cret"}}`,
		`{"request":{"url":"https://api.test/?who=t0ken"},"auth":{"kind":"oauth1","consumerKey":"app","consumerSecret":"s3cret","token":"t0ken","tokenSecret":"t0kens3cret"}}`,
	} {
		if _, result, err := l.fetch(test); err != nil || result.Records != 1 {
			t.Errorf("%s: %+v %v", test, result, err)
		}
	}
}

// The token request of a client has what the definition adds to it, where it is to be.
func TestTokenParameters(t *testing.T) {
	l := newLab(t)
	var asked []string
	l.serve("auth.test", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		user, _, basic := r.BasicAuth()
		asked = append(asked, fmt.Sprint(basic, " ", user, " ", r.PostForm.Encode()))
		if basic == r.PostForm.Has("client_secret") || r.PostForm.Get("refuse") != "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		respond(w, `{"access_token":"t0ken"}`)
	})
	l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer t0ken" {
			respond(w, `[{"id":1}]`)
		}
	})
	definition := func(more string) string {
		return `{"request":{"url":"https://api.test/"},"auth":{"kind":"oauth2ClientCredentials","tokenUrl":"https://auth.test/token","clientId":"app","clientSecret":"s3cret",` + more + `}}`
	}
	for _, test := range []struct{ more, want string }{
		{`"audience":"https://api.test/","parameters":{"resource":["a","b"],"api_key":{"secret":"k3y"}},"placement":"body"`, "false  api_key=k3y&audience=https%3A%2F%2Fapi.test%2F&client_id=app&client_secret=s3cret&grant_type=client_credentials&resource=a&resource=b"},
		{`"placement":"basic","scope":"read"`, "true app grant_type=client_credentials&scope=read"},
		{`"placement":"basic","parameters":{"refuse":true}`, "true app grant_type=client_credentials&refuse=true"},
	} {
		asked = nil
		_, result, err := l.fetch(definition(test.more))
		if refused := strings.Contains(test.more, "refuse"); refused != (FailureOf(err) == "source-auth") || result.Records != 1 && !refused || !slices.Equal(asked, []string{test.want}) {
			t.Errorf("%s: %q %v", test.more, asked, err)
		}
		if trace := l.trace(); strings.Contains(trace, "k3y") || strings.Contains(trace, "s3cret") {
			t.Error(trace)
		}
	}
}

// No kind shows its secrets, and each says what it lacks.
func TestSignedKindsAreRead(t *testing.T) {
	for auth, wanted := range map[string]string{
		`{"kind":"digest","username":"ada","password":"s3cret"}`: "", `{"kind":"digest","username":"a:b","password":""}`: "/auth/username", `{"kind":"digest","username":"a"}`: "/auth/password",
		`{"kind":"oauth1","consumerKey":"a","consumerSecret":"s3cret","token":"s3cret","tokenSecret":"s3cret"}`:                                                            "",
		`{"kind":"oauth1","consumerKey":"a","consumerSecret":"s3cret","token":"s3cret"}`:                                                                                   "/auth/tokenSecret",
		`{"kind":"oauth1","consumerKey":"a"}`:                                                                                                                              "/auth/consumerSecret",
		`{"kind":"hmac","secret":"s3cret","over":"{{path}}{{today}}","header":"X-Sig"}`:                                                                                    "",
		`{"kind":"hmac","secret":"s3cret","over":"{{pth}}","header":"X-Sig"}`:                                                                                              "/auth/over",
		`{"kind":"hmac","secret":"s3cret","over":"{{path}}"}`:                                                                                                              "/auth/header",
		`{"kind":"hmac","secret":"s3cret","over":"{{path}}","header":"X-Sig","param":"s"}`:                                                                                 "/auth/header",
		`{"kind":"hmac","secret":"s3cret","over":"{{path}}","header":"Host"}`:                                                                                              "/auth/header",
		`{"kind":"hmac","secret":"s3cret","over":"{{path}}","header":"X-Sig","algorithm":"crc"}`:                                                                           "/auth/algorithm",
		`{"kind":"hmac","over":"{{path}}","header":"X-Sig","encoding":"hexa"}`:                                                                                             "/auth/encoding /auth/secret",
		`{"kind":"awsSigV4","accessKeyId":"a","secretAccessKey":"s3cret","sessionToken":"s3cret","region":"r","service":"s"}`:                                              "",
		`{"kind":"oauth2ClientCredentials","tokenUrl":"https://a.test/","clientId":"a","clientSecret":"s3cret","parameters":{"api_key":"s3cret","x":{"secret":"s3cret"}}}`: "",
		`{"kind":"oauth2ClientCredentials","tokenUrl":"https://a.test/","clientId":"a","clientSecret":"s3cret","parameters":{"Client_Secret":"x"},"placement":"query"}`:    "/auth/parameters/Client_Secret /auth/placement",
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"auth":`+auth+`}`), 0)
		var got []string
		if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
			for _, f := range refusal.Faults {
				got = append(got, f.Pointer)
			}
		}
		if strings.Join(got, " ") != wanted {
			t.Errorf("%s: %q %v", auth, got, err)
		}
		if err == nil && (strings.Contains(string(d.Public()), "s3cret") || strings.Count(string(d.Secrets()), "s3cret") != strings.Count(auth, "s3cret")) {
			t.Errorf("%s: %s", auth, d.Public())
		}
	}
	if _, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/{{path.id}}"},"each":{"in":{"values":[{"id":1}]},"as":"path"},"auth":{"kind":"hmac","secret":"s3cret","over":"{{path}}","header":"X-Sig"}}`), 0); err == nil {
		t.Error("the word of each hides a token of over")
	}
}

// A form login that responds with a redirect has its cookie there.
func TestLoginRedirects(t *testing.T) {
	l := newLab(t)
	l.serve("app.test", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		cookie, _ := r.Cookie("session")
		switch {
		case r.URL.Path == "/login" && r.PostForm.Get("password") == "s3cret":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "old", MaxAge: -1})
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "abc"})
			http.Redirect(w, r, "http://elsewhere.test/home", http.StatusFound)
		case r.URL.Path == "/login" && r.Method == "POST":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "", MaxAge: -1})
			http.Redirect(w, r, "/login", http.StatusFound)
		case r.URL.Path == "/data" && cookie != nil && cookie.Value == "abc":
			respond(w, `[{"id":1}]`)
		case r.URL.Path == "/login":
			_, _ = io.WriteString(w, "<html>Wrong password</html>")
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	for password, failure := range map[string]string{"s3cret": "", "wr0ng": "token"} {
		_, result, err := l.fetch(`{"request":{"url":"https://app.test/data"},"auth":{"kind":"login","tokenCookie":"session","request":{"url":"https://app.test/login","body":{"kind":"form","value":{"user":"ada","password":"` + password + `"}}}}}`)
		if FailureOf(err) != failure || failure == "" && result.Records != 1 {
			t.Errorf("%s: %+v %v\n%s", password, result, err, l.trace())
		}
	}
}
