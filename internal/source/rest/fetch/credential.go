package fetch

import (
	"context"

	"github.com/feedmill/feedmill"
)

// credential is what a request is signed with.
type credential struct {
	signer signer
	// token is what was received for the secrets of the spec, where the kind
	// works like that; then it can be received again.
	token     string
	renewable bool
	// borrowed says that another has received it, who may have been told since that it
	// is not good any more.
	borrowed bool
}

// prefixed puts a prefix before a token, with a space between where the prefix
// is a word.
func prefixed(prefix, token string) string {
	if prefix == "" {
		return token
	}
	if last := prefix[len(prefix)-1]; '0' <= last && last <= '9' || 'a' <= last|0x20 && last|0x20 <= 'z' {
		prefix += " "
	}
	return prefix + token
}

// credential is what the next request is signed with. A token is received
// first where there is none that is good.
func (r *run) credential(ctx context.Context, traced *[]feedmill.TracedRequest) (credential, error) {
	c := credential{signer: r.signer}
	receive := c.signer.receiver(r, traced)
	if receive == nil {
		return c, nil
	}
	text, borrowed, err := r.f.tokens.get(ctx, r.tokenKey(), receive)
	if err != nil {
		return c, err
	}
	r.mask.Add(text)
	c.token, c.renewable, c.borrowed = text, true, borrowed
	return c, nil
}

func (r *run) tokenKey() string { return string(r.job.Source) + " " + r.spec.CredentialHash() }
