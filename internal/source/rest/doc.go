// Package rest makes HTTP APIs a source of feeds.
//
// [Source] connects the packages below this one, each of which does one thing:
//
//   - spec reads the definition that a user wrote and reports everything that is wrong with it.
//     It keeps a definition in two halves: its text without secrets, and the secrets.
//   - find finds values in JSON documents without reading more of them than necessary.
//   - fetch sends the requests: pages, credentials, rate limits, retries, positions.
//   - shape turns the records of a page into the rows of a table.
//
// The imports go one way: rest, fetch, shape, spec, find.
package rest
