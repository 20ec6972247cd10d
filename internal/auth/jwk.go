package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// publicKey is a key that an issuer signs with.
type publicKey struct {
	kid    string
	alg    string // empty if the issuer does not specify one
	public crypto.PublicKey
}

// canVerify reports whether the key can verify a token with an algorithm and key id. A
// token without a key id can be from any key.
func (k publicKey) canVerify(alg, kid string) bool {
	if kid != "" && kid != k.kid || k.alg != "" && k.alg != alg {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return alg == curves[public.Params().Name].alg
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// curves lists the curves of RFC 7518, section 3.4, with their algorithms.
var curves = map[string]struct {
	curve elliptic.Curve
	alg   string
}{
	"P-256": {elliptic.P256(), "ES256"},
	"P-384": {elliptic.P384(), "ES384"},
	"P-521": {elliptic.P521(), "ES512"},
}

// jwk is a key of a JSON Web Key Set (RFC 7517), with the members for signatures.
type jwk struct {
	Kty string `json:"kty"`
	Use string `json:"use"`
	Kid string `json:"kid"`
	Alg string `json:"alg"`
	Crv string `json:"crv"`
	N   string `json:"n"`
	E   string `json:"e"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// parseKeys returns the signature keys of a JSON Web Key Set. As RFC 7517 requires, it skips
// keys of other kinds and keys that cannot be used.
func parseKeys(document []byte) ([]publicKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, err
	}
	var keys []publicKey
	for _, raw := range set.Keys {
		var k jwk
		if err := json.Unmarshal(raw, &k); err != nil || k.Use != "" && k.Use != "sig" {
			continue
		}
		public, err := k.public()
		if err != nil {
			continue
		}
		keys = append(keys, publicKey{kid: k.Kid, alg: k.Alg, public: public})
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set contains no usable key")
	}
	return keys, nil
}

func (k jwk) public() (crypto.PublicKey, error) {
	switch k.Kty {
	case "RSA":
		return k.rsa()
	case "EC":
		return k.ecdsa()
	case "OKP":
		return k.ed25519()
	}
	return nil, fmt.Errorf("key type %q is not supported", k.Kty)
}

// minRSABits is the minimum modulus by RFC 7518, section 3.3. maxRSABits limits the cost of
// a verification.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

func (k jwk) rsa() (*rsa.PublicKey, error) {
	n, errN := decodeField(k.N)
	e, errE := decodeField(k.E)
	if err := errors.Join(errN, errE); err != nil {
		return nil, err
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	if bits := modulus.BitLen(); bits < minRSABits || bits > maxRSABits {
		return nil, fmt.Errorf("an RSA key of %d bits is not accepted", bits)
	}
	if exponent.BitLen() > 31 || exponent.Int64() < 3 || exponent.Bit(0) == 0 {
		return nil, errors.New("the exponent of the RSA key is not accepted")
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, nil
}

func (k jwk) ecdsa() (*ecdsa.PublicKey, error) {
	known, ok := curves[k.Crv]
	if !ok {
		return nil, fmt.Errorf("curve %q is not supported", k.Crv)
	}
	x, errX := decodeField(k.X)
	y, errY := decodeField(k.Y)
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	size := (known.curve.Params().BitSize + 7) / 8
	if len(x) != size || len(y) != size {
		return nil, errors.New("a coordinate of the key has the wrong length")
	}
	point := append([]byte{4}, x...)
	return ecdsa.ParseUncompressedPublicKey(known.curve, append(point, y...))
}

func (k jwk) ed25519() (ed25519.PublicKey, error) {
	if k.Crv != "Ed25519" {
		return nil, fmt.Errorf("curve %q is not supported", k.Crv)
	}
	x, err := decodeField(k.X)
	if err != nil {
		return nil, err
	}
	if len(x) != ed25519.PublicKeySize {
		return nil, errors.New("the key has the wrong length")
	}
	return x, nil
}

// decodeField decodes base64url. It accepts padding, which the standard forbids and some
// issuers write.
func decodeField(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}
