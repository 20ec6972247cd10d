package feedmill

// Provider is where people sign in for a service, by authorization code (RFC 6749)
// with PKCE.
type Provider struct {
	AuthorizeURL, TokenURL string
	// RevokeURL is where a grant is given back, empty where that cannot be done.
	RevokeURL string
	// Issuer is how the provider names itself in its answers (RFC 9207), empty
	// where it does not.
	Issuer string
	Scopes []string
	// Parameters are sent along to the authorization.
	Parameters map[string]string
}

// OAuthClient is what the operator has registered at a provider.
type OAuthClient struct{ ID, Secret string }
