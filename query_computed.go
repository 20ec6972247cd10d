package feedmill

// The limits of computed fields. Package compute has those of expressions.
const (
	// MaxComputed is the maximum number of computed fields of a query.
	MaxComputed = 50
	// MaxComputedBytes is the maximum length of an expression, and MaxComputedDepth the
	// maximum number of its levels.
	MaxComputedBytes = 4 << 10
	MaxComputedDepth = 64
	// MaxComputedText is the maximum size of a text that an expression builds.
	MaxComputedText = 1 << 20
)

// Computed is a field of a query that is computed from others.
type Computed struct {
	Name, Expression string
	// Place is the position in the request. Faults have pointers below it: /name or
	// /expression.
	Place Fault
}

// RanComputed is where a computed field of a query was computed.
type RanComputed struct {
	Name string
	// RanIn is source or here. Reason says why it is here.
	RanIn  RanIn
	Reason string
}

// The codes of warnings about computed fields. Such values are null.
const (
	WarnDivision   = "division-by-zero"
	WarnConversion = "failed-conversion"
)
