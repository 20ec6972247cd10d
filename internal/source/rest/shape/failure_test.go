package shape

import (
	"errors"

	"github.com/feedmill/feedmill"
)

// failureOf returns the type of the failure that an error is.
func failureOf(err error) string {
	if f, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return f.Type
	}
	return ""
}
