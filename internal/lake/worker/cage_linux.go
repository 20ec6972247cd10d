package worker

// #include "cage.h"
import "C"

import (
	"fmt"
	"syscall"
)

// caged reports an error where the process was to be in a cage and is not.
func caged() error {
	if state := int(C.cage_state()); state < 0 {
		return fmt.Errorf("enabling the sandbox failed: %w", syscall.Errno(-state))
	}
	return nil
}

// statm is what /proc/self/statm says, which was opened before the cage was closed.
func statm() ([]byte, error) {
	var text [256]byte
	n, err := syscall.Pread(int(C.cage_statm()), text[:], 0)
	return text[:max(n, 0)], err
}
