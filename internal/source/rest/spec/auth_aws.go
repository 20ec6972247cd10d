package spec

// AWSKey is a key of Amazon's services, with the token of a session where it has one.
type AWSKey struct {
	noAuth
	ID, Secret, Session, Region, Service string
}

func readAWSKey(o *object) Auth {
	a := &AWSKey{ID: o.needText("accessKeyId"), Secret: o.needText("secretAccessKey"), Region: o.needText("region"), Service: o.needText("service")}
	o.secret("secretAccessKey")
	if o.Has("sessionToken") {
		a.Session = o.headerSecret("sessionToken")
	}
	return a
}

func (a *AWSKey) fingerprint(add func(...string)) {
	add("awsSigV4", a.ID, a.Secret, a.Session, a.Region, a.Service)
}

func (a *AWSKey) hide(m *Mask) { m.Add(a.Secret, a.Session) }
