// Package parquet writes columns of typed values as a Parquet file.
//
// It is an encoder for Feedmill's own types and nothing more: flat tables, zstd
// or nothing, a handful of encodings. That is what makes it fast: row groups are
// encoded by several goroutines at once and written in order, the validity of
// a vector is used as it stands, and no value becomes an object of its own.
//
// Start with [Writer]. A group of rows is gathered into dense columns
// (gather.go), each becomes a chunk of pages (chunk.go) in the encoding that
// fits its values (ints.go, texts.go, plain.go), and the footer says where
// everything stands (footer.go).
//
// The same rows give the same bytes, however they were cut into blocks and
// whichever goroutine was first, so the hash of a file is the hash of its content.
package parquet
