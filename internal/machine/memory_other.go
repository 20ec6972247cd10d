//go:build !linux

package machine

// availableMemory is zero: what the machine has is not known here.
func availableMemory() int64 { return 0 }
