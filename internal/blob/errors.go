package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/feedmill/feedmill"
)

// disk are the errors by which a disk says that it cannot, now: it is broken, gone, or
// was made read-only, or the process has too much open.
var disk = []syscall.Errno{
	syscall.EFBIG, syscall.EROFS, syscall.EIO, syscall.ESTALE, syscall.ENODEV,
	syscall.ENXIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
}

// classify adds the kind to an error of the file system. Others stay as they are.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", feedmill.ErrNotFound, err)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: %w", feedmill.ErrConflict, err)
	}
	if feedmill.IsNoRoom(err) {
		return fmt.Errorf("%w: %w", feedmill.ErrNoRoom, err)
	}
	for _, code := range disk {
		if errors.Is(err, code) {
			return fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
		}
	}
	return err
}
