// Package database reads tables of databases.
//
// A [Connector] opens a [Database] of its kind. A [Table] is one of its views as
// it stands: what columns it has tells [query.Resolve] what a query means, and
// the tree that comes of it is what [Table.Read] answers, in vectors. What of the
// tree a database can express exactly it is sent; the rest is done here, with the
// same result.
//
// The connectors are packages below this one.
package database
