// Package rest fetches data from HTTP APIs again and again.
//
// [Parse] reads the definition that a user wrote and lists everything that is
// wrong with it. A [Definition] is kept in two halves: its text without
// secrets, and the secrets, which the caller seals; [Restore] puts them
// together for a fetch, and [Merge] changes a definition of which the user sees
// only the first half.
//
// A [Fetcher] does the fetching. [Fetcher.Fetch] asks for page after page,
// spools each to a file and hands it to a [Sink], while it already asks for the
// next one. It signs in, renews tokens, keeps to rate limits, tries again what
// may pass, and ends in an error where the pages would not end. What it did
// is in the trace that the caller is given, and why it failed in [Problem];
// no secret is in either.
//
// Where a fetch left off is its position, a JSON text of this package. The
// caller keeps it together with the data that was made of the pages.
package rest
