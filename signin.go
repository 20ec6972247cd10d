package feedmill

import (
	"slices"
	"time"
)

// Session is a person in a browser who works with an API key, or who has signed in at
// the OIDC issuer. The browser has a token in place of either, of which only the hash
// is kept.
type Session struct {
	ID ID
	// Workspace is the one that the person works in: the key's or the person's own, or
	// another where they may.
	Workspace ID
	// Key is empty where there is a Person.
	Key    ID
	Person SessionPerson
	// Token is the hash of the present token and Former that of the one before,
	// which requests that were under way may still have.
	Token, Former KeyHash
	CreatedAt     time.Time
	RotatedAt     time.Time
	// SeenAt trails the truth by up to SessionTouch.
	SeenAt time.Time
}

// SessionPerson is who the OIDC issuer said that somebody is, at the sign-in.
type SessionPerson struct {
	// Subject names the issuer too, as that of a [Principal] does.
	Subject, Name string
	Scopes        []Scope
	// Home is the workspace that the issuer named.
	Home ID
}

// How long a session lasts: SessionAge in all, and SessionIdle without a
// request. Its token is another after SessionRotation, and the one before is
// good for SessionGrace more.
const (
	SessionAge      = 12 * time.Hour
	SessionIdle     = 2 * time.Hour
	SessionRotation = 15 * time.Minute
	SessionGrace    = time.Minute
	SessionTouch    = time.Minute
)

// Ends is when the session ends, if there is no further request.
func (s Session) Ends() time.Time {
	end, idle := s.CreatedAt.Add(SessionAge), s.SeenAt.Add(SessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}

// SignIn is how far somebody has come who connects a service that only a person can
// connect: with a link that is good once, at the provider, and back here.
type SignIn struct {
	// Link is the hash of what the link ends with, and Visit that of what the
	// browser holds from the moment on at which the sign-in begins.
	Link, Visit []byte
	Workspace   ID
	// Service is the name of the service, and Connection that of the connection
	// that is to be connected again, empty for a new one.
	Service    string
	Connection ID
	// RedirectURI is where the browser goes in the end, empty for nowhere.
	RedirectURI string
	State       SignInState
	// Secrets are what the provider is held to, and then what it granted, sealed.
	Secrets              []byte
	CreatedAt, ExpiresAt time.Time
}

// SignInState is how far a sign-in is.
type SignInState string

// The states of a sign-in, in their order.
const (
	SignInOffered SignInState = "offered" // there is a link
	SignInBegun   SignInState = "begun"   // the link is used up, and the provider is asked
	SignInGranted SignInState = "granted" // the provider has said yes
	SignInDone    SignInState = "done"    // there is a feed, or an end
)

const (
	// SignInOffer is how long a link is good for, and SignInVisit how long somebody
	// has from the beginning of the sign-in on.
	SignInOffer = 15 * time.Minute
	SignInVisit = 30 * time.Minute
)

// SignInLink is a link with which somebody connects a service.
type SignInLink struct {
	Service   string
	URL       string
	ExpiresAt time.Time
}

// SignInAsk is what somebody is asked for who holds a link or a visit.
type SignInAsk struct {
	SignIn
	// Title is that of the service, and WorkspaceName the name of who asks.
	Title, WorkspaceName string
	// Scopes are what the provider will ask to allow, and Authorize is where.
	Scopes    []string
	Authorize string
	// ServiceName is that of the connection, once there is one.
	ServiceName string
}

// SignInAnswer is what the provider sends the browser back with.
type SignInAnswer struct {
	// Service is the one that the browser was sent back for, by the address that only
	// its provider was given.
	Service             string
	State, Code, Issuer string
	// Error is why there is no code, such as access_denied.
	Error string
}

// SignInChoice is what somebody shares of a service.
type SignInChoice struct {
	// Settings are those of the connection that only the person knows.
	Settings map[string]string
	View     string
	Fields   []string
	Filters  []SignInFilter
	// Name is that of the feed, and Every how often it is fetched, empty for once.
	Name, Every string
	// OnlyNew says that only what is new is fetched, by the cursor of the view.
	OnlyNew bool
}

// SignInFilter is a condition of a choice. Values are separated by commas, and a period
// is a text such as "7 days".
type SignInFilter struct{ Field, Op, Value string }

// SignInOffering is what somebody can choose of who has signed in.
type SignInOffering struct {
	SignInAsk
	// Settings are those that only the person knows, and Config what they are.
	Settings []ConnectorSetting
	Config   ConnectionConfig
	Views    []ServiceView
	// Fields are those of the view that is chosen.
	View   string
	Fields []ServiceField
}

// ChosenView is the view that is chosen.
func (o SignInOffering) ChosenView() ServiceView {
	for _, v := range o.Views {
		if v.Name == o.View {
			return v
		}
	}
	return ServiceView{}
}

// Lacks reports whether a setting is not known yet.
func (o SignInOffering) Lacks() bool {
	return slices.ContainsFunc(o.Settings, func(s ConnectorSetting) bool { return o.Config[s.Name] == "" })
}
