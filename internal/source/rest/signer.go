package rest

import (
	"context"
	"net/http"

	"github.com/feedmill/feedmill"
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
	digest() *digestUser
}

// tokenReceiver receives a token for the secrets of a spec.
type tokenReceiver func(context.Context, *tokenSlot) (receivedToken, error)

// signerOf returns the signer of a credential.
func signerOf(credential auth) signer {
	switch a := credential.(type) {
	case *basic:
		return basicSigner{basic: a}
	case *bearer:
		return bearerSigner{bearer: a}
	case *apiKey:
		return apiKeySigner{apiKey: a}
	case *clientCredentials:
		return clientSigner{clientCredentials: a}
	case *refreshToken:
		return refreshSigner{refreshToken: a}
	case *serviceAccount:
		return assertionSigner{serviceAccount: a}
	case *awsKey:
		return awsSigner{awsKey: a}
	case *loginAuth:
		return loginSigner{loginAuth: a}
	case *digestUser:
		return digestSigner{digestUser: a}
	case *oauth1:
		return oauth1Signer{oauth1: a}
	case *hmacSigning:
		return hmacSigner{hmacSigning: a}
	}
	return plainSigner{}
}

// plainSigner leaves requests as they are.
type plainSigner struct{}

func (plainSigner) sign(*http.Request, string)                             {}
func (plainSigner) receiver(*run, *[]feedmill.TracedRequest) tokenReceiver { return nil }
func (plainSigner) signsAddress() bool                                     { return false }
func (plainSigner) stamps() bool                                           { return false }
func (plainSigner) digest() *digestUser                                    { return nil }

// tokenSigner sends the token that was received.
type tokenSigner struct{ plainSigner }

func (tokenSigner) sign(request *http.Request, token string) {
	request.Header.Set("Authorization", "Bearer "+token)
}

type basicSigner struct {
	plainSigner
	*basic
}

func (a basicSigner) sign(request *http.Request, _ string) {
	request.SetBasicAuth(a.name, a.password)
}

type bearerSigner struct {
	plainSigner
	*bearer
}

func (a bearerSigner) sign(request *http.Request, _ string) {
	request.Header.Set("Authorization", "Bearer "+a.token)
}

type apiKeySigner struct {
	plainSigner
	*apiKey
}

func (a apiKeySigner) sign(request *http.Request, _ string) {
	switch a.in {
	case inHeader:
		request.Header.Set(a.name, a.value)
	case inQuery:
		request.URL.RawQuery = setQuery(request.URL.RawQuery, a.name, a.value)
	case inCookie:
		request.AddCookie(&http.Cookie{Name: a.name, Value: a.value})
	}
}

func (a apiKeySigner) signsAddress() bool { return a.in == inQuery }
