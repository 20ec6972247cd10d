package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// CredentialHash tells credentials apart and says nothing about them.
func (s *Spec) CredentialHash() string {
	hash := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			_, _ = fmt.Fprintf(hash, "%d:%s", len(part), part)
		}
	}
	s.Auth.fingerprint(add)
	if s.TLS != nil {
		add(s.TLS.Hash)
	}
	fingerprintParams(add, s.Request.query, s.Request.headers)
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// fingerprintParams adds the parameters that are secrets.
func fingerprintParams(add func(parts ...string), lists ...[]Param) {
	for _, p := range slices.Concat(lists...) {
		if p.secret {
			add(strings.ToLower(p.Name))
			for _, v := range p.Values {
				add(v.Text)
			}
		}
	}
}
