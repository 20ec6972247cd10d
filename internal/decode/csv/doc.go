// Package csv reads tables of separated fields: CSV, TSV and their kin, in
// whichever dialect and encoding they are written.
//
// [Open] finds the dialect (dialect.go), the header (header.go) and the extent of
// the table (extent.go). The first reading (first.go) scans whole chunks at the same
// time (block.go, field_ends.go), for as long as they are well formed; from the
// first that is not on, records are read one after the other, and made sense of
// (tolerant.go). Later readings know where the records are.
//
// [OpenArriving] reads a table while it arrives, and [Pages] tables that are the
// pages of one.
package csv
