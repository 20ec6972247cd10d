// Package find finds values in JSON documents by JSONPath.
//
// [Values] reads a document from front to back and no further than to the last value that it
// looks for. A path that cannot be followed that way reads the document into memory, up to
// [MaxTree] bytes.
package find
