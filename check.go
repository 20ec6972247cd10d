package feedmill

// The checks of a feed, as [CheckResult] names them.
const (
	CheckMinRows = "minRows"
	CheckMaxDrop = "maxDrop"
	CheckNotNull = "notNull"
	CheckUnique  = "unique"
)

// CheckResult reports whether rows meet one expectation.
type CheckResult struct {
	Check string `json:"check"`
	// Column is empty for a check of all rows.
	Column string `json:"column,omitzero"`
	Passed bool   `json:"passed"`
	// Found is the number of rows for [CheckMinRows] and [CheckMaxDrop], of nulls for
	// [CheckNotNull], and of values that occur several times for [CheckUnique].
	Found int64 `json:"found,omitzero"`
	// Before is the number of rows of the previous version, for [CheckMaxDrop].
	Before int64 `json:"before,omitzero"`
	// Missing says that there is no such column.
	Missing bool `json:"missing,omitzero"`
}
