package feedmill

import "encoding/json"

// FeedProfile says what the values of a version are like.
type FeedProfile struct {
	RowCount int64           `json:"rowCount"`
	Columns  []ColumnProfile `json:"columns"`
}

// ColumnProfile says what the values of a column are like. Values are as JSON has them;
// what a type has not is null.
type ColumnProfile struct {
	ID    string `json:"id"`
	Nulls int64  `json:"nulls"`
	// Distinct is how many different values there are, counted where DistinctExact
	// says so and else estimated.
	Distinct      int64             `json:"distinct"`
	DistinctExact bool              `json:"distinctExact"`
	Min           json.RawMessage   `json:"min"`
	Max           json.RawMessage   `json:"max"`
	Mean          json.RawMessage   `json:"mean"`
	Quantiles     *ProfileQuantiles `json:"quantiles"`
	// Histogram has how many values are in each part of their range, and Top those
	// that most rows have.
	Histogram []ProfileBin   `json:"histogram"`
	Top       []ProfileValue `json:"top"`
	// MaxLength is how many characters the longest text has.
	MaxLength *int64 `json:"maxLength"`
	// Low and High are Min and Max on a line of numbers.
	Low  float64 `json:"-"`
	High float64 `json:"-"`
}

// ProfileQuantiles are values below which a quarter, a half and three quarters of all
// are, estimated.
type ProfileQuantiles struct {
	P25 json.RawMessage `json:"p25"`
	P50 json.RawMessage `json:"p50"`
	P75 json.RawMessage `json:"p75"`
}

// ProfileBin is a part of the range of values: from one on, and below the other but for the
// last part, which has its end.
type ProfileBin struct {
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
	Count int64           `json:"count"`
}

// ProfileValue is a value and how many rows have it.
type ProfileValue struct {
	Value json.RawMessage `json:"value"`
	Count int64           `json:"count"`
}
