package spec

// Digest is a user of digest authentication (RFC 7616).
type Digest struct {
	noAuth
	User
}

func readDigest(o *object) Auth { return &Digest{User: o.readUser("digest")} }

func (a *Digest) fingerprint(add func(...string)) { add("digest", a.Name, a.Password) }
func (a *Digest) hide(m *Mask)                    { m.Add(a.Password) }
