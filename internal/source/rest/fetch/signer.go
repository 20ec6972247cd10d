package fetch

import (
	"context"
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// signer signs the requests of a source. Each kind of credential has one, which embeds
// [plainSigner] for what it does not do.
type signer interface {
	// sign puts the credential into a request, with the token that was received for it.
	sign(request *http.Request, token string)
	// receiver receives a token for the credential; nil where there is none to receive.
	receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver
	// signsAddress reports whether the credential is a signature of the request. A redirect
	// then needs a new one.
	signsAddress() bool
	// stamps reports whether the time of a request and a nonce are signed.
	stamps() bool
	// digest is the user that answers the challenges of a server; nil where they are not answered.
	digest() *spec.Digest
}

// tokenReceiver receives a token for the secrets of a spec.
type tokenReceiver func(context.Context, *tokenSlot) (receivedToken, error)

// signerOf returns the signer of a credential.
func signerOf(credential spec.Auth) signer {
	switch a := credential.(type) {
	case *spec.Basic:
		return basicSigner{Basic: a}
	case *spec.Bearer:
		return bearerSigner{Bearer: a}
	case *spec.APIKey:
		return apiKeySigner{APIKey: a}
	case *spec.ClientCredentials:
		return clientSigner{ClientCredentials: a}
	case *spec.RefreshToken:
		return refreshSigner{RefreshToken: a}
	case *spec.ServiceAccount:
		return assertionSigner{ServiceAccount: a}
	case *spec.AWSKey:
		return awsSigner{AWSKey: a}
	case *spec.Login:
		return loginSigner{Login: a}
	case *spec.Digest:
		return digestSigner{Digest: a}
	case *spec.OAuth1:
		return oauth1Signer{OAuth1: a}
	case *spec.HMAC:
		return hmacSigner{HMAC: a}
	}
	return plainSigner{}
}

// plainSigner leaves requests as they are.
type plainSigner struct{}

func (plainSigner) sign(*http.Request, string)                             {}
func (plainSigner) receiver(*run, *[]feedmill.TracedRequest) tokenReceiver { return nil }
func (plainSigner) signsAddress() bool                                     { return false }
func (plainSigner) stamps() bool                                           { return false }
func (plainSigner) digest() *spec.Digest                                   { return nil }

// tokenSigner sends the token that was received.
type tokenSigner struct{ plainSigner }

func (tokenSigner) sign(request *http.Request, token string) {
	request.Header.Set("Authorization", "Bearer "+token)
}

type basicSigner struct {
	plainSigner
	*spec.Basic
}

func (a basicSigner) sign(request *http.Request, _ string) {
	request.SetBasicAuth(a.Name, a.Password)
}

type bearerSigner struct {
	plainSigner
	*spec.Bearer
}

func (a bearerSigner) sign(request *http.Request, _ string) {
	request.Header.Set("Authorization", "Bearer "+a.Token)
}

type apiKeySigner struct {
	plainSigner
	*spec.APIKey
}

func (a apiKeySigner) sign(request *http.Request, _ string) {
	switch a.In {
	case spec.InHeader:
		request.Header.Set(a.Name, a.Value)
	case spec.InQuery:
		request.URL.RawQuery = spec.SetQuery(request.URL.RawQuery, a.Name, a.Value)
	case spec.InCookie:
		request.AddCookie(&http.Cookie{Name: a.Name, Value: a.Value})
	}
}

func (a apiKeySigner) signsAddress() bool { return a.In == spec.InQuery }
