package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/serve"
)

// writeCertificate writes a certificate for 127.0.0.1, and its key.
func writeCertificate(t *testing.T, folder, name string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestServesTLSAndTakesANewCertificate(t *testing.T) {
	t.Parallel()
	certFile, keyFile := writeCertificate(t, t.TempDir(), "first")
	s := start(t, setup{env: []string{"FEEDMILL_TLS_CERT=" + certFile, "FEEDMILL_TLS_KEY=" + keyFile}})
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("it listens on %s", s.url)
	}
	presented := func() string {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		answer, err := client.Get(s.url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Errorf("answered %d", answer.StatusCode)
		}
		return answer.TLS.PeerCertificates[0].Subject.CommonName
	}
	if got := presented(); got != "first" {
		t.Errorf("the certificate is of %s", got)
	}
	writeCertificate(t, filepath.Dir(certFile), "second")
	eventually(t, func() bool { return presented() == "second" })
	if err := os.WriteFile(certFile, []byte("half of a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { presented(); return strings.Contains(s.log.String(), "the old one stays in use") })
	if got := presented(); got != "second" {
		t.Errorf("with a broken file the certificate is of %s", got)
	}
	if answer, err := http.Get("http" + strings.TrimPrefix(s.url, "https") + "/healthz"); err == nil {
		defer answer.Body.Close()
		if answer.StatusCode != 400 {
			t.Errorf("plain HTTP is answered %d", answer.StatusCode)
		}
	}
}

func TestRefusesAKeyOfAnotherCertificate(t *testing.T) {
	t.Parallel()
	certFile, _ := writeCertificate(t, t.TempDir(), "one")
	_, keyFile := writeCertificate(t, t.TempDir(), "other")
	if _, err := serve.NewCertificate(certFile, keyFile, nil); err == nil || !strings.Contains(err.Error(), "tlsCert") {
		t.Errorf("the error is %v", err)
	}
	if _, err := serve.NewCertificate(certFile, "nothing.pem", nil); err == nil || !strings.Contains(err.Error(), "tlsKey") {
		t.Errorf("the error is %v", err)
	}
}
