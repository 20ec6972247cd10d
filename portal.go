package feedmill

import (
	"context"
	"slices"
	"time"
)

// PortalPage is a page of the portal that a link can open.
type PortalPage string

// The pages of the portal.
const (
	PortalSubscriptions PortalPage = "subscriptions"
	PortalEvents        PortalPage = "events"
	PortalFeeds         PortalPage = "feeds"
)

// PortalPages lists every page of the portal, in the order of its tabs.
var PortalPages = []PortalPage{PortalSubscriptions, PortalEvents, PortalFeeds}

// PortalAccess is what a session of the portal can do on its pages.
type PortalAccess string

// The rights of a session of the portal. PortalWrite is for subscriptions and their
// deliveries; nothing else can be changed.
const (
	PortalRead  PortalAccess = "read"
	PortalWrite PortalAccess = "write"
)

const (
	// PortalLinkAge is the default lifetime of a portal link and its session, and the
	// others its bounds.
	PortalLinkAge    = time.Hour
	MinPortalLinkAge = time.Minute
	MaxPortalLinkAge = 24 * time.Hour
	// PortalLinkRetention is how long a portal link stays in the list after it has expired.
	PortalLinkRetention = 7 * 24 * time.Hour
	// MaxPortalLinks is the maximum number of portal links of a workspace that have not
	// expired.
	MaxPortalLinks = 10_000
	// MaxReturnURL is the maximum length of the URL that the portal leads back to, in
	// characters.
	MaxReturnURL = 2000
)

// PortalLink opens the portal of a workspace once, for a customer of the operator. It is also
// the session that it starts: both end at the same time, and together if the link is deleted.
type PortalLink struct {
	ID        ID
	Workspace ID
	// Key is the key that created the link. The link ends with the key. It is empty for a
	// link that a user of the OIDC issuer created.
	Key ID
	// Link is the hash of the secret in the URL, and Session that of the session's token.
	// Session is zero while the link is unused.
	Link, Session KeyHash
	Pages         []PortalPage
	Access        PortalAccess
	// ReturnURL is where the portal leads back to; empty for nowhere.
	ReturnURL string
	CreatedAt time.Time
	// OpenedAt is when the session was started; zero while the link is unused.
	OpenedAt  time.Time
	ExpiresAt time.Time
}

// PortalLinkState is the state of a portal link.
type PortalLinkState string

// The states of portal links.
const (
	PortalLinkUnused  PortalLinkState = "unused"
	PortalLinkInUse   PortalLinkState = "inUse"
	PortalLinkExpired PortalLinkState = "expired"
)

// State is the state of the link at a time.
func (l PortalLink) State(now time.Time) PortalLinkState {
	switch {
	case !now.Before(l.ExpiresAt):
		return PortalLinkExpired
	case l.OpenedAt.IsZero():
		return PortalLinkUnused
	}
	return PortalLinkInUse
}

// Opens reports whether the link opens a page.
func (l PortalLink) Opens(page PortalPage) bool { return slices.Contains(l.Pages, page) }

// PortalBrand is how the portal looks. Every member can be empty.
type PortalBrand struct {
	// Name is the name of the operator's product.
	Name string `json:"name"`
	// Logo is an image as a data URI.
	Logo string `json:"logo"`
	// Accent is a color such as #0b6e5a.
	Accent string `json:"accent"`
}

// Bounds of the portal's look.
const (
	MaxPortalName = 100
	MaxPortalLogo = 64 << 10
)

type portalSessionKey struct{}

// WithPortalSession makes requests under the context requests of a portal session. Only the
// pages of the portal do that, inside the process: a request from the network cannot.
func WithPortalSession(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, portalSessionKey{}, token)
}

// PortalSessionOf returns the token of the portal session of a request, empty for none.
func PortalSessionOf(ctx context.Context) string {
	token, _ := ctx.Value(portalSessionKey{}).(string)
	return token
}
