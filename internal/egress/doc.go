// Package egress makes all outgoing connections of the service: deliveries, REST sources,
// databases, OAuth token requests and OIDC keys all use a [Client].
//
// Users choose the URLs that the service calls, so the address that is dialed matters, not
// the text of a URL. A [Policy] allows public addresses and those that the operator has
// added. It is checked twice:
//
//   - [Policy.CheckURL] and [Policy.CheckHost] check the text when something is configured.
//     They need no network, so users get errors immediately.
//   - [Client.DialContext] checks every address after resolution, when the socket is
//     opened. So a name that later resolves to another address, or a redirect, cannot reach
//     more than a literal address can.
//
// Errors of the policy match [ErrForbidden] through every layer of net/http. A retry does
// not help until the operator changes the allow-list.
//
// Start with [New]. Use [Client.Transport] for requests with your own timeouts and
// redirects, [Client.HTTPClient] for libraries that need a client, and
// [Client.DialContext] for database drivers. Read responses through [LimitedBody].
package egress
