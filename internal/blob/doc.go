// Package blob keeps files that are written once and never changed: the data
// of a feed's versions and the originals of uploads.
//
// A file appears under its name whole and on disk, or not at all, whatever
// happens on the way: [Folder.Put] writes it under a temporary name, syncs it,
// gives it its name, and syncs the folder. What a crash leaves behind is a
// temporary file, which [Folder.Sweep] removes.
//
// [Folder] is the store for one machine. What it promises is what a bucket
// with conditional writes can promise too, so that callers need not know which
// of the two they have: they declare the methods that they use.
package blob
