package machine

import "golang.org/x/sys/unix"

// unsynchronized is STA_UNSYNC of the kernel.
const unsynchronized = 0x40

// ClockSynchronized reports whether the kernel's clock is synchronized with a time source,
// and whether the kernel reports that at all.
func ClockSynchronized() (synchronized, known bool) {
	var t unix.Timex // without modes it only reads
	if _, err := unix.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&unsynchronized == 0, true
}
