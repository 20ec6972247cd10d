// Package blob keeps files that are written once and never changed: the data
// of a feed's versions and the originals of uploads.
//
// A file appears under its name whole and on disk, or not at all, whatever
// happens on the way: [Folder.Put] writes it under a temporary name, syncs it,
// gives it its name, and syncs the folder. What a crash leaves behind is a
// temporary file, which [Folder.Sweep] removes.
//
// [Folder] is the store for one machine. [Bucket] keeps the same files in an S3 bucket, with a
// cache of local copies, for any number of replicas. Callers declare the methods that they use.
package blob
