// Package jsonpath finds values in JSON documents by RFC 9535.
//
// [Parse] reads a path, and says in plain words and with a position what is
// wrong with one. [Path.Select] evaluates it over a [Tree], which a reader of
// JSON fills in with [Tree.Open], [Tree.Leaf] and [Tree.Close]; the package has
// no reader of its own. Every value of a tree knows where it stands in the
// document, so that what was selected can be cut out of it.
//
// Many paths need no tree. [Path.Steps] gives those that can be followed while
// a document is read from front to back, in whatever size it is.
//
// Patterns in match and search are I-Regexps (RFC 9485), except that ^ and $
// anchor, as everybody who writes them means. A literal pattern that cannot be
// read is a mistake in the path; one that comes from the document matches
// nothing, as the RFC says.
package jsonpath
