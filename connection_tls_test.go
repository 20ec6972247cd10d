package feedmill

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// certificate makes a certificate and its key, in PEM.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain}))
}

// New connections to hosts other than loopback verify the server, and what a connection
// had before stays.
func TestDefaultsOfTLS(t *testing.T) {
	for _, test := range []struct {
		connector, host, given, before string
		want                           string // what is kept
		warns                          bool
	}{
		{"postgres", "db.example", "", "", "verify-full", false},
		{"postgres", "10.0.0.7", "", "", "verify-full", false},
		{"postgres", "127.0.0.1", "", "", "", false},
		{"postgres", "127.8.8.8", "", "", "", false},
		{"postgres", "::1", "", "", "", false},
		{"postgres", "LocalHost.", "", "", "", false},
		{"postgres", "db.localhost", "", "", "", false},
		{"postgres", "localhost.example", "", "", "verify-full", false},
		{"postgres", "db.example", `"prefer"`, "", "prefer", true},
		{"postgres", "db.example", `"require"`, "", "require", true},
		{"postgres", "db.example", `"disable"`, "", "disable", true},
		{"postgres", "db.example", `"verify-ca"`, "", "verify-ca", false},
		{"postgres", "127.0.0.1", `"disable"`, "", "disable", false},
		{"postgres", "db.example", "", "prefer", "prefer", true},
		{"postgres", "db.example", "null", "prefer", "verify-full", false},
		{"mysql", "db.example", "", "", "on", false},
		{"mysql", "localhost", "", "", "", false},
		{"mysql", "db.example", `"skipVerify"`, "", "skipVerify", true},
		{"mysql", "db.example", "", "off", "off", true},
	} {
		kind, _ := FindConnector(test.connector)
		mode := map[string]string{"postgres": "sslmode", "mysql": "tls"}[test.connector]
		text := `{"host":"` + test.host + `","database":"d","user":"u"`
		if test.given != "" {
			text += `,"` + mode + `":` + test.given
		}
		var before ConnectionConfig
		if test.before != "" {
			before = ConnectionConfig{"host": test.host, "database": "d", "user": "u", mode: test.before}
		}
		var got ConnectionConfig
		if faults := readObject(t, text+"}", func(o *strictjson.Object) { got = kind.Read(o, before) }); len(faults) > 0 || got[mode] != test.want {
			t.Errorf("%+v: %q, faults at %q", test, got[mode], faults)
		}
		config, _ := json.Marshal(got)
		warnings := Connection{Connector: test.connector, Config: config}.Warnings()
		if (len(warnings) == 1 && warnings[0].Code == "unverified-tls") != test.warns || len(warnings) > 1 {
			t.Errorf("%+v: %+v", test, warnings)
		}
	}
}

func TestReadCertificates(t *testing.T) {
	cert, key := certificate(t)
	other, _ := certificate(t)
	kept := ConnectionConfig{"host": "h", "database": "d", "user": "u", "sslmode": "verify-full", "clientCert": cert, "clientKey": key}
	for _, test := range []struct {
		connector string
		before    ConnectionConfig
		config    map[string]string
		faults    []string
	}{
		{"postgres", nil, map[string]string{"caCert": cert, "clientCert": cert, "clientKey": key}, nil},
		{"mysql", nil, map[string]string{"caCert": cert + other, "clientCert": cert, "clientKey": key}, nil},
		{"postgres", nil, map[string]string{"caCert": cert, "sslmode": "require"}, []string{"/caCert"}},
		{"mysql", nil, map[string]string{"caCert": cert, "tls": "skipVerify"}, []string{"/caCert"}},
		{"postgres", nil, map[string]string{"caCert": key}, []string{"/caCert"}},
		{"postgres", nil, map[string]string{"caCert": "no PEM"}, []string{"/caCert"}},
		{"postgres", nil, map[string]string{"caCert": cert + strings.Repeat("x", 64<<10)}, []string{"/caCert"}},
		{"postgres", nil, map[string]string{"clientCert": cert}, []string{"/clientKey"}},
		{"postgres", nil, map[string]string{"clientKey": key}, []string{"/clientCert"}},
		{"postgres", nil, map[string]string{"clientCert": other, "clientKey": key}, []string{"/clientKey"}},
		{"postgres", nil, map[string]string{"clientCert": cert, "clientKey": key, "sslmode": "disable"}, []string{"/clientCert"}},
		{"sqlite", nil, map[string]string{"caCert": cert}, []string{"/caCert"}},
		{"postgres", kept, map[string]string{"clientKey": Hidden}, nil},
		{"postgres", kept, map[string]string{"clientCert": other}, []string{"/clientKey"}},
		{"postgres", kept, map[string]string{"host": "elsewhere"}, []string{"/clientKey"}},
	} {
		given := map[string]string{"host": "h", "database": "d", "user": "u"}
		if test.connector == "sqlite" {
			given = map[string]string{"path": "/x"}
		}
		for name, value := range test.config {
			given[name] = value
		}
		text, _ := json.Marshal(given)
		kind, _ := FindConnector(test.connector)
		faults := readObject(t, string(text), func(o *strictjson.Object) { kind.Read(o, test.before) })
		if !slices.Equal(faults, test.faults) {
			t.Errorf("%s %.80v: faults at %q, want %q", test.connector, test.config, faults, test.faults)
		}
	}
}
