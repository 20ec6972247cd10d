package spec

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
)

// parsePrivateKey reads a private key in PEM. The error repeats nothing of it.
func parsePrivateKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		block, _ = pem.Decode([]byte(inLines(text)))
	}
	if block == nil {
		return nil, errors.New("the private key must be PEM: text that begins with -----BEGIN PRIVATE KEY-----")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, wantP256(key)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("the private key cannot be read; it must be an RSA or P-256 key without a passphrase")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, nil
	case *ecdsa.PrivateKey:
		return key, wantP256(key)
	}
	return nil, errors.New("the private key must be an RSA key or one on the curve P-256")
}

// inLines is a key in PEM whose lines were lost on the way: they are blanks, or \n as
// the file of a service account has them.
func inLines(text string) string {
	text = strings.NewReplacer(`\r`, "", `\n`, " ").Replace(text)
	const begin, end = "-----BEGIN ", "-----END "
	_, label, _ := strings.Cut(text, begin)
	label, rest, _ := strings.Cut(label, "-----")
	body, _, found := strings.Cut(rest, end+label+"-----")
	if !found {
		return ""
	}
	return begin + label + "-----\n" + strings.Join(strings.Fields(body), "\n") + "\n" + end + label + "-----\n"
}

func wantP256(key *ecdsa.PrivateKey) error {
	if key.Curve.Params().BitSize != 256 {
		return errors.New("the private key must be an RSA key or one on the curve P-256")
	}
	return nil
}

// ServiceAccount is given tokens for assertions that it signs.
type ServiceAccount struct {
	TokenEndpoint
	Key crypto.Signer
	// text is the key as the definition has it.
	text                             string
	KeyID, Issuer, Subject, Audience string
}

func readServiceAccount(o *object) Auth {
	a := &ServiceAccount{TokenEndpoint: o.readTokenURL()}
	if a.text = o.needText("privateKey"); a.text != "" {
		var err error
		if a.Key, err = parsePrivateKey(a.text); err != nil {
			o.unreadable("privateKey", UpperFirst(err.Error())+".")
		}
	}
	o.secret("privateKey")
	a.Issuer = o.needText("issuer")
	a.KeyID, _ = o.text("keyId")
	a.Subject, _ = o.text("subject")
	a.Audience, _ = o.text("audience")
	return a
}

func (a *ServiceAccount) fingerprint(add func(...string)) {
	add("jwtBearer", a.text, a.Issuer, a.Subject, a.Audience)
	a.fingerprintEndpoint(add)
}

func (a *ServiceAccount) hide(m *Mask) { m.Add(a.text) }
