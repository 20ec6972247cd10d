// Package lake keeps the versions of feeds as Parquet files and reads them.
//
// [Write] makes a version of blocks of typed rows, and a [Reader] reads what a
// query wants of one. What a query means is decided by package query; [Plan]
// makes it a statement over the version's file that gives pages, and a [Pool] of
// worker processes runs it: DuckDB works in those and nowhere else, so that
// whatever happens to it happens to one request. What comes back is a stream of
// bytes in the format that was asked for, which nobody has to take apart.
//
// Below are parquet, the encoder, wire, what the two processes say to each
// other, and worker, the process with DuckDB in it. Only worker imports DuckDB:
// what imports this package does not link it.
package lake
