package record

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
)

// waits is the field of a schedule of retries: its waits with spaces between them.
type waits struct{ of *feedmill.RetrySchedule }

// Waits is the field of a schedule of retries.
func Waits(of *feedmill.RetrySchedule) any { return waits{of} }

// Value makes the text.
func (f waits) Value() (driver.Value, error) {
	words := make([]string, len(*f.of))
	for i, wait := range *f.of {
		words[i] = feedmill.FormatDuration(wait)
	}
	return strings.Join(words, " "), nil
}

// Scan reads it.
func (f waits) Scan(from any) error {
	text, ok := from.(string)
	if !ok {
		return fmt.Errorf("a schedule of retries is a %T", from)
	}
	*f.of = nil
	for word := range strings.FieldsSeq(text) {
		wait, err := feedmill.ParseDuration(word)
		if err != nil {
			return err
		}
		*f.of = append(*f.of, wait)
	}
	return nil
}
