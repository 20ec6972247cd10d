// Package compute gives the expressions of computed fields their meaning, whatever database a
// query runs on.
//
// [Parse] reads an expression, [Check] finds its fields and types, and an [Evaluator] computes
// it for the rows of vectors. The evaluator defines the results: a database computes an
// expression only where it returns the same. Every fault has a position in the expression,
// counted from 1 in code points.
package compute
