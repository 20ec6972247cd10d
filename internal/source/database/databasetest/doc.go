// Package databasetest is what every connector to databases has to fulfil, as a
// suite of tests.
//
// A connector's own test loads [Rows] into a real database and calls [Run]. The
// suite reads them by many queries and compares the answers with an oracle, which
// knows the rows and what a query says, and nothing of SQL or of how a query is
// resolved.
package databasetest
