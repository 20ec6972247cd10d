package expression

import "time"

var start = time.Now()

// sinceStart is the time since the program started.
func sinceStart() time.Duration { return time.Since(start) }
