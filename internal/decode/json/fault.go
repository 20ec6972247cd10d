package json

import (
	"fmt"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// invalidJSON is the stable name of the problem that a document is no JSON.
const invalidJSON = "invalid-json"

// dataFault is a fault at a byte of the data. The line and column are looked
// up when it becomes an error for the client, because finding them takes a
// look at all the data before it.
type dataFault struct {
	offset int64
	detail string
}

func (f *dataFault) Error() string {
	return fmt.Sprintf("byte %d: %s", f.offset, f.detail)
}

// refusal is the fault as the client sees it.
func (f *dataFault) refusal(src input.Source) error {
	position, err := input.PositionAt(src, f.offset, '\n')
	if err != nil {
		return fmt.Errorf("locate the error in the JSON: %w", err)
	}
	return input.Refuse(invalidJSON, "the JSON is not valid at %v: %s", position, f.detail)
}
