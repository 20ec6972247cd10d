// Package spec holds the definitions of HTTP sources and checks them.
//
// [Parse] reads the definition that a user wrote and lists everything that is
// wrong with it. A [Definition] is kept in two halves: its text without
// secrets, and the secrets, which the caller seals; [Restore] puts them
// together for a fetch, and [Merge] changes a definition of which the user sees
// only the first half.
//
// A [Spec] is how the data of a source is fetched, and a [Response] how the records of a feed
// are read. A [Mask] hides the secrets of a spec in everything that is shown.
package spec
