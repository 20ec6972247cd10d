// Package feed says what making, loading, fetching, reading and sweeping feeds
// means: typed tables made of uploads and of what sources have.
//
// An upload goes through upload.go from its top to its end: it is received
// (receive.go), opened in its format (open.go), modelled, written as a version
// together with the rows that the feed keeps (version.go), and committed. A feed
// that fetches its data is defined in fetched.go and steered in control.go; a
// run of its [Source] (run.go) ends in the same version.go. read.go reads versions
// and sweep.go removes them.
//
// A [Mill] is what works on data: it makes versions and reads them. [Feeds] is
// what works on records: it has the mill work, and writes what came of it to the
// store together with the events that tell of it.
package feed
