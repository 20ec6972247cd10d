//go:build !linux

package machine

// ClockSynchronized reports whether the kernel's clock is synchronized with a time source,
// and whether the kernel reports that at all.
func ClockSynchronized() (synchronized, known bool) { return false, false }
