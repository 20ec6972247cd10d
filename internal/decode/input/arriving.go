package input

import "errors"

// Arriving is a source that grows while it is read. Its Size is that of what is
// there.
type Arriving interface {
	Source
	// Await waits until so many bytes are there, or all that there will be.
	// It fails where the rest does not come.
	Await(size int64) error
}

// ErrArriving means that data cannot be read while it arrives, and that nothing
// is said about what it is.
var ErrArriving = errors.New("the data must be complete before it can be read")

// AwaitSize returns the size of src, which is less than wanted only where all is
// there: it waits for one that is arriving.
func AwaitSize(src Source, wanted int64) (int64, error) {
	if growing, ok := src.(Arriving); ok {
		if err := growing.Await(wanted); err != nil {
			return 0, err
		}
	}
	return src.Size(), nil
}
