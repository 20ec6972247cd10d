// Package egress is the one way out of the service. Deliveries, REST sources,
// databases, OAuth token requests and OIDC keys all leave through a [Client].
//
// Clients of the service choose the URLs it calls, so what matters is not the
// text of a URL but the address that is dialled in the end. A [Policy] says
// which addresses those may be: the public Internet, and what the operator has
// allowed beyond it. It is asked twice:
//
//   - [Policy.CheckURL] and [Policy.CheckHost] look at the text when something
//     is configured. They need no network and give the user an answer at once.
//   - [Client.DialContext] asks again about every address after resolution, at
//     the moment the socket is opened. A name that resolves to something else
//     the second time, or a redirect, gets no further than a literal address.
//
// What the policy refuses matches [ErrForbidden] through every layer of
// net/http, and trying again is of no use until the operator changes the
// allow-list.
//
// Start with [New]. Use [Client.Transport] to send requests with timeouts and
// redirects of your own, [Client.HTTPClient] where a library wants a client,
// and [Client.DialContext] for a database driver. Read answers through
// [LimitedBody].
package egress
