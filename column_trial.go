package feedmill

// ColumnTrial reports what a change to a column would do to the stored values.
type ColumnTrial struct {
	ID string
	// Misfits counts the values that are not of the type.
	Misfits int64
	// Distinct counts the different values among them. It is a lower bound where
	// DistinctExact is false.
	Distinct      int64
	DistinctExact bool
	// Examples are the most frequent of them.
	Examples []MisfitExample
}

// MisfitExample is a value that is not of a type, with the number of rows that have it.
type MisfitExample struct {
	Value string
	Rows  int64
	// FirstRow is the first of the rows, from 1.
	FirstRow int64
}
