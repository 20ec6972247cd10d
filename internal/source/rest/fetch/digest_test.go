package fetch

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// The examples of RFC 7616, sections 3.9.1 and 3.9.2, and of RFC 2617, section 3.5.
func TestDigestVectors(t *testing.T) {
	const modern = `realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", algorithm=`
	const old = `realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`
	for _, test := range []struct{ challenge, user, password, address, cnonce, response, more string }{
		{modern + "MD5", "Mufasa", "Circle of Life", "http://www.example.org/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "8ca523f5e9506fed4657c9700eebdbec", `username="Mufasa"`},
		{modern + "SHA-256", "Mufasa", "Circle of Life", "http://www.example.org/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", "nc=00000001"},
		{old, "Mufasa", "Circle Of Life", "http://www.nowhere.org/dir/index.html", "0a4f113b", "6629fae49393a05397450978507c4ef1", "qop=auth"},
	} {
		c, ok := parseChallenge(test.challenge)
		got := c.answer(&spec.Digest{User: spec.User{Name: test.user, Password: test.password}}, requestTo(t, "GET", test.address, "", ""), test.cnonce, 1)
		if !ok || !strings.Contains(got, `response="`+test.response+`"`) || !strings.Contains(got, test.more) {
			t.Errorf("%s: %s", test.challenge, got)
		}
	}
	c, _ := parseChallenge(`realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="n", charset=UTF-8, userhash=true`)
	r := requestTo(t, "GET", "http://api.example.org/doe.json", "", "")
	if got := c.answer(&spec.Digest{User: spec.User{Name: "Jäsøn Doe", Password: "p"}}, r, "c", 1); !strings.Contains(got, "userhash=true") || strings.Contains(got, "Doe") || strings.Contains(got, "username*") {
		t.Error(got)
	}
	c.userhash = false
	if got := c.answer(&spec.Digest{User: spec.User{Name: "Jäsøn Doe", Password: "p"}}, r, "c", 1); !strings.Contains(got, "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe") {
		t.Error(got)
	}
	for _, text := range []string{`realm="x"`, `nonce="n", algorithm=SHA-1`, `nonce="n", qop="auth-conf"`, ""} {
		if c, ok := parseChallenge(text); ok {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

var digestField = regexp.MustCompile(`(\w+)=("([^"]*)"|[^, ]+)`)

// digestServer asks for digest authentication as RFC 7616 describes it.
type digestServer struct {
	// challenge is what follows the nonce, and lasts for how many requests a nonce is good.
	challenge string
	lasts     int
	// stale says that a nonce that is used up is called stale, and always that every one is.
	stale, always bool
	// asked counts the requests, and used those of the nonce.
	asked, used, nonce int
}

func (d *digestServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.asked++
	sent, _ := io.ReadAll(r.Body)
	refuse := func(stale string) {
		d.nonce, d.used = d.nonce+1, 0
		w.Header().Add("WWW-Authenticate", `Basic realm="old, \"quoted\""`)
		w.Header().Add("WWW-Authenticate", fmt.Sprintf(`Digest realm="unknown", nonce="x", algorithm=SHA3, Digest realm="a \"b\"", nonce="n,%d", %s%s`, d.nonce, d.challenge, stale))
		w.WriteHeader(http.StatusUnauthorized)
	}
	scheme, text, _ := strings.Cut(strings.ReplaceAll(r.Header.Get("Authorization"), `\"`, "'"), " ")
	fields := map[string]string{}
	for _, m := range digestField.FindAllStringSubmatch(text, -1) {
		fields[m[1]] = strings.Trim(m[2], `"`)
	}
	h := func(text string) string {
		if strings.Contains(d.challenge, "SHA-256") {
			sum := sha256.Sum256([]byte(text))
			return hex.EncodeToString(sum[:])
		}
		sum := md5.Sum([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	switch current := fmt.Sprint("n,", d.nonce); {
	case scheme != "Digest":
		refuse("")
		return
	case d.always || fields["nonce"] != current || d.used >= d.lasts:
		if d.stale || d.always {
			refuse(", stale=TRUE")
		} else {
			refuse("")
		}
		return
	}
	d.used++
	a1 := h(`ada:a "b":s3cret`)
	if strings.Contains(d.challenge, "-sess") {
		a1 = h(a1 + ":" + fields["nonce"] + ":" + fields["cnonce"])
	}
	a2 := r.Method + ":" + r.URL.RequestURI()
	if fields["qop"] == "auth-int" {
		a2 += ":" + h(string(sent))
	}
	want := h(a1 + ":" + fields["nonce"] + ":" + h(a2))
	if strings.Contains(d.challenge, "qop") {
		want = h(strings.Join([]string{a1, fields["nonce"], fmt.Sprintf("%08x", d.used), fields["cnonce"], fields["qop"], h(a2)}, ":"))
	}
	if fields["response"] != want || fields["uri"] != r.URL.RequestURI() || fields["username"] != "ada" || fields["realm"] != "a 'b'" {
		refuse("")
		return
	}
	if page := r.URL.Query().Get("page"); page != "" && page < "5" {
		respond(w, `[{"id":`+page+`}]`)
	} else {
		respond(w, `[]`)
	}
}

func TestDigest(t *testing.T) {
	definition := func(method, password string) string {
		body := ""
		if method == "POST" {
			body = `,"body":{"kind":"json","value":{"q":"x"}}`
		}
		return `{"request":{"method":"` + method + `","url":"https://api.test/a%20b?x=1"` + body + `},"auth":{"kind":"digest","username":"ada","password":"` + password + `"},"pagination":{"kind":"page","in":"query"},"retry":{"maxAttempts":3}}`
	}
	for _, test := range []struct {
		name, method, password string
		server                 digestServer
		failure                string
		asked                  int
	}{
		{"a nonce for all", "GET", "s3cret", digestServer{challenge: `qop="auth"`, lasts: 99}, "", 6},
		{"SHA-256 sessions", "GET", "s3cret", digestServer{challenge: `qop="auth-int,auth", algorithm=SHA-256-sess`, lasts: 99}, "", 6},
		{"the body", "POST", "s3cret", digestServer{challenge: `qop="auth-int"`, lasts: 99}, "", 6},
		{"without qop", "GET", "s3cret", digestServer{challenge: `opaque="o"`, lasts: 99}, "", 6},
		{"stale nonces", "GET", "s3cret", digestServer{challenge: `qop="auth"`, lasts: 2, stale: true}, "", 8},
		{"nonces that end without a word", "GET", "s3cret", digestServer{challenge: `qop="auth"`, lasts: 1}, "", 10},
		{"a wrong password", "GET", "wr0ng", digestServer{challenge: `qop="auth"`, lasts: 99}, "source-auth", 2},
		{"always stale", "GET", "s3cret", digestServer{challenge: `qop="auth"`, always: true}, "source-auth", 1 + maxChallenges},
		{"an unknown algorithm", "GET", "s3cret", digestServer{challenge: `algorithm=SHA3`, lasts: 9}, "source-auth", 1},
	} {
		l := newLab(t)
		server := test.server
		l.serve("api.test", server.ServeHTTP)
		_, result, err := l.fetch(definition(test.method, test.password))
		if FailureOf(err) != test.failure || server.asked != test.asked || test.failure == "" && result.Records != 4 {
			t.Errorf("%s: %d requests, %+v %v\n%s", test.name, server.asked, result, err, l.trace())
		}
	}
}

// A source that asks for digest authentication is named as such, whatever the definition has.
func TestDigestIsNamed(t *testing.T) {
	l := newLab(t)
	l.serve("api.test", (&digestServer{challenge: `qop="auth"`}).ServeHTTP)
	for _, auth := range []string{`{"kind":"none"}`, `{"kind":"basic","username":"ada","password":"s3cret"}`} {
		_, _, err := l.fetch(`{"request":{"url":"https://api.test/"},"auth":` + auth + `}`)
		if FailureOf(err) != "source-auth" || !strings.Contains(err.Error(), "kind digest") {
			t.Error(err)
		}
	}
}
