// Package shape turns the records of fetched pages into the rows of a table.
//
// [Reading] tells the loader how the pages of a feed are read. If the definition picks columns,
// names values, explodes pairs or marks deletions, the records are written again as rows first.
package shape
