// Package columnar holds tables in memory: cells as a decoder found them, and
// vectors, which are the typed values of one column.
//
// It is a leaf. Every package may import it, and it imports nothing of ours.
package columnar

// Type is what the values of a column are.
type Type string

// The types of columns.
const (
	TypeText      Type = "text"
	TypeInteger   Type = "integer" // 64 bits
	TypeDecimal   Type = "decimal" // exact, up to 38 digits
	TypeNumber    Type = "number"  // 64-bit float
	TypeBoolean   Type = "boolean"
	TypeDate      Type = "date"
	TypeTimestamp Type = "timestamp" // microseconds, UTC
	TypeJSON      Type = "json"
)

// Types lists all of them.
var Types = []Type{
	TypeText, TypeInteger, TypeDecimal, TypeNumber, TypeBoolean, TypeDate, TypeTimestamp, TypeJSON,
}
