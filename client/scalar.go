package client

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// Duration is a time span in the form that the API has it in, such as 30s,
// 15m, 24h or 7d. It is exact to a millisecond.
type Duration time.Duration

func (d Duration) String() string { return feedmill.FormatDuration(time.Duration(d)) }

// MarshalText writes the duration as the API reads it.
func (d Duration) MarshalText() ([]byte, error) {
	if d < 0 {
		return nil, fmt.Errorf("the duration %v is negative", time.Duration(d))
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what the API writes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := feedmill.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Milliseconds is a measured time span as the API has it, exact to a microsecond.
type Milliseconds float64

// Duration is the time span in Go's own type.
func (m Milliseconds) Duration() time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond)).Round(time.Microsecond)
}

// Field is a field of a change: left as it is, which is its zero value, or set
// with [To], or given its default with [Reset].
type Field[T any] struct {
	value T
	given bool
	reset bool
}

// To sets a field to a value.
func To[T any](value T) Field[T] { return Field[T]{value: value, given: true} }

// Reset gives a field its default.
func Reset[T any]() Field[T] { return Field[T]{given: true, reset: true} }

// IsZero reports whether the field is left as it is.
func (f Field[T]) IsZero() bool { return !f.given }

// MarshalJSON writes the value, or null for a field that gets its default.
func (f Field[T]) MarshalJSON() ([]byte, error) {
	if f.reset || !f.given {
		return []byte("null"), nil
	}
	return json.Marshal(f.value)
}

// sinceParameter is a point in time as a query parameter.
func sinceParameter(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// UnmarshalJSON sets the field; null gives it its default.
func (f *Field[T]) UnmarshalJSON(text []byte) error {
	*f = Field[T]{given: true, reset: string(text) == "null"}
	if f.reset {
		return nil
	}
	return json.Unmarshal(text, &f.value)
}
