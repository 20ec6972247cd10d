// Package iceberg writes the metadata of Apache Iceberg tables (format version 2) over
// Parquet files that exist already: table metadata in JSON, manifest lists and manifests in
// Avro.
//
// A [Table] is the state of one table. [Table.Add] adds a version of a feed as a snapshot and
// returns the files to write, [Table.Expire] removes snapshots, and [Table.Metadata] returns
// the metadata file. The package does no I/O: the caller writes the files, the metadata file
// last, and loads a table again with [Load].
//
// A manifest never changes. A snapshot reuses the manifests of the snapshot before it, and
// writes new ones for files that were added and for manifests of which files were removed.
// Small manifests are merged, so that a commit does not depend on how many files a table has.
package iceberg
