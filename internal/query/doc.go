// Package query gives queries their meaning, whatever database runs them.
//
// [Resolve] checks a [feedmill.Query] against the columns of a table and makes a
// [Tree] of it: columns are found, values are of their types, and periods are
// ranges of time. All that is wrong with a query is found at once. What an
// operator takes and means is a row of the table in operator.go, and the same for
// aggregates in aggregate.go.
//
// A [Writer] writes the parts of a tree as SQL. What differs between databases is
// a [Dialect], which sees columns and typed values, and neither the query nor how
// it was written. Values are bound as parameters and never become SQL.
package query
