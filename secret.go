package feedmill

// Hidden stands for a secret wherever one could be seen. Written back it means
// the secret that is there.
const Hidden = "***"

// What must not stand in the store as plain text is sealed under the name of the
// record that it belongs to, so that it opens nowhere else. The names are part
// of what is stored and never change.

// SecretsRecord is the record of a subscription's [SigningSecrets].
func (s Subscription) SecretsRecord() string { return "sub/" + string(s.ID) + "/secrets" }

// HeadersRecord is the record of a subscription's extra headers.
func (s Subscription) HeadersRecord() string { return "sub/" + string(s.ID) + "/headers" }

// URLRecord is the record of a subscription's URL.
func (s Subscription) URLRecord() string { return "sub/" + string(s.ID) + "/url" }

// SecretsRecord is the record of a source's secrets.
func (s Source) SecretsRecord() string { return string(s.ID) }

// SecretsRecord is the record of a connection's secrets.
func (c Connection) SecretsRecord() string { return "con/" + string(c.ID) + "/secrets" }

// Record is the record of a kept response.
func (r IdempotentResponse) Record() string {
	if r.Owner == "" { // it was kept before answers had owners
		return "once/" + string(r.Workspace) + "/" + r.Key
	}
	return "once/" + string(r.Workspace) + "/" + r.Owner + "/" + r.Key
}
