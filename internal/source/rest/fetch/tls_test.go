package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// authority is one that gives certificates.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	pem         string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := new(authority)
	a.pem, _ = a.give(t, &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// give gives a certificate, and its key.
func (a *authority) give(t *testing.T, template *x509.Certificate) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if a.key == nil {
		a.key, a.certificate = private, template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	if template.IsCA {
		a.certificate, _ = x509.ParseCertificate(der)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// serve is a server that the authority vouches for, and that knows only clients of its own.
func (a *authority) serve(t *testing.T, want tls.ClientAuthType, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	certificate, key := a.give(t, &x509.Certificate{DNSNames: []string{"localhost"}})
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(a.pem))
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: want, ClientCAs: pool}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	t.Cleanup(s.Close)
	return s
}

// A source is verified by the authority of its definition and shown its certificate; places
// that responses name are neither.
func TestCertificates(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	var shown []string
	var other *httptest.Server
	handler := func(w http.ResponseWriter, r *http.Request) {
		who := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			who = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		shown = append(shown, who)
		if r.URL.Path == "/next" {
			w.Header().Set("Link", "<"+other.URL+`>; rel="next"`)
		}
		respond(w, fmt.Sprintf(`[{"id":%d}]`, len(shown)))
	}
	source := ours.serve(t, tls.RequireAndVerifyClientCert, handler)
	other = ours.serve(t, tls.RequestClientCert, handler)
	certificate, key := ours.give(t, &x509.Certificate{Subject: pkix.Name{CommonName: "feed"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	quoted := func(text string) string {
		b, _ := json.Marshal(text)
		return string(b)
	}
	usual := x509.NewCertPool() // of the system
	usual.AppendCertsFromPEM([]byte(ours.pem))
	transport := func(authorities *x509.CertPool, certificate *tls.Certificate) *http.Transport {
		c := &tls.Config{RootCAs: usual}
		if authorities != nil {
			c.RootCAs = authorities
		}
		if certificate != nil {
			c.Certificates = []tls.Certificate{*certificate}
		}
		made := &http.Transport{TLSClientConfig: c}
		t.Cleanup(made.CloseIdleConnections)
		return made
	}
	fetcher := NewFetcher(Options{Transport: transport(nil, nil), Secure: transport})
	fetch := func(path, certificates string) error {
		d, err := spec.Parse([]byte(`{"request":{"url":"`+source.URL+path+`"},"pagination":{"kind":"linkHeader"},"retry":{"maxAttempts":1}`+certificates+`}`), 0)
		if err != nil {
			t.Fatalf("%v %+v", err, err.(*feedmill.Error).Faults)
		}
		if strings.Contains(string(d.Public()), "PRIVATE") || certificates != "" && strings.Contains(certificates, "clientKey") && !strings.Contains(string(d.Public()), `"clientKey":"***"`) {
			t.Error(string(d.Public()))
		}
		spec, err := spec.Restore(d.SourceSpec(), d.Secrets(), d.Rules)
		if err != nil {
			t.Fatal(err)
		}
		spool, err := os.CreateTemp(t.TempDir(), "spool")
		if err != nil {
			t.Fatal(err)
		}
		defer spool.Close()
		_, err = fetcher.Fetch(t.Context(), Job{Spec: spec, Now: time.Now(), Spool: spool}, &pages{})
		return err
	}
	client := `,"tls":{"caCert":` + quoted(ours.pem) + `,"clientCert":` + quoted(certificate) + `,"clientKey":` + quoted(key) + `}`
	if err := fetch("/next", client); err != nil || strings.Join(shown, " ") != "feed nobody" {
		t.Errorf("%v %v", shown, err)
	}
	if err := fetch("/", ""); FailureOf(err) != "source-unreachable" {
		t.Errorf("without a certificate: %v", err)
	}
	if err := fetch("/", `,"tls":{"caCert":`+quoted(theirs.pem)+`}`); FailureOf(err) != "source-unreachable" || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("another authority: %v", err)
	}
	_, otherKey := theirs.give(t, &x509.Certificate{})
	for tls, pointer := range map[string]string{
		`{"clientCert":` + quoted(certificate) + `}`:                                      "/tls/clientKey",
		`{"clientKey":` + quoted(key) + `}`:                                               "/tls/clientCert",
		`{"clientCert":` + quoted(certificate) + `,"clientKey":` + quoted(otherKey) + `}`: "/tls/clientKey",
		`{"caCert":"x"}`:                 "/tls/caCert",
		`{"caCert":` + quoted(key) + `}`: "/tls/caCert",
		`{"clientCert":` + quoted(certificate) + `,"clientKey":"***"}`: "/tls/clientKey",
		`{"verify":false}`: "/tls/verify",
	} {
		_, err := spec.Parse([]byte(`{"request":{"url":"https://a.test/"},"tls":`+tls+`}`), 0)
		refusal, _ := err.(*feedmill.Error)
		if refusal == nil || refusal.Faults[0].Pointer != pointer || strings.Contains(refusal.Faults[0].Detail, "MI") {
			t.Errorf("%s: %+v", tls, refusal)
		}
	}
	if _, err := spec.Parse([]byte(`{"request":{"url":"http://a.test/"},"tls":{"caCert":`+quoted(ours.pem)+`}}`), 0); err == nil {
		t.Error("tls without https is accepted")
	}
}
