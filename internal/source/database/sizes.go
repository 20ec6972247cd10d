package database

import (
	"fmt"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// checkSizes refuses a run with a value or a row beyond the limits.
func (f *Finish) checkSizes(run []columnar.Vector) error {
	first := f.fetched + 1
	f.fetched += int64(run[0].Len)
	total := 0
	for c := range run {
		v := &run[c]
		total += len(v.Bytes)
		if len(v.Bytes) <= input.MaxFieldBytes {
			continue
		}
		for i := range v.Len {
			if n := len(v.Text(i)); n > input.MaxFieldBytes {
				return Fail(ProblemStatement, fmt.Sprintf("The value of %q in row %d has %d bytes; the maximum is %d MiB. Leave the field out, or shorten its values in the view.",
					f.plan.Fetched[c].Column.Name, first+int64(i), n, input.MaxFieldBytes>>20), nil)
			}
		}
	}
	if total <= input.MaxRecordBytes {
		return nil
	}
	for i := range run[0].Len {
		size := 0
		for c := range run {
			if run[c].Offsets != nil {
				size += len(run[c].Text(i))
			}
		}
		if size > input.MaxRecordBytes {
			return Fail(ProblemStatement, fmt.Sprintf("Row %d has more than %d MiB, the maximum. Select fewer fields.", first+int64(i), input.MaxRecordBytes>>20), nil)
		}
	}
	return nil
}
