//go:build !linux

package expression

import "time"

// threadTime is the time that has passed: the processor time of a thread is not known here.
func threadTime() time.Duration { return sinceStart() }
