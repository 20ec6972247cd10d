package fault

import (
	"errors"
	"strings"
)

// WithoutKind is the text of an error without the sentinel at its end, which is for
// programs.
func WithoutKind(err error) string {
	kind := err
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		kind = inner
	}
	return strings.TrimSuffix(err.Error(), ": "+kind.Error())
}
