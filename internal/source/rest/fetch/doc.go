// Package fetch fetches the pages of HTTP sources.
//
// [Fetcher.Fetch] asks for page after page, spools each to a file and hands it to a [Sink], while
// it already asks for the next one. It signs in, renews tokens, keeps to rate limits, retries
// what may pass, and fails if the pages do not end. What it did is in the trace that the caller
// is given; no secret is in it, nor in an error.
//
// Where a fetch left off is its [Position], a JSON text of this package. The caller keeps it
// together with the data that was built from the pages.
package fetch
