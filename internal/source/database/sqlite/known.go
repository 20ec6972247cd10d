package sqlite

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// known are the views of a file that have been described. Their values were looked at
// for that, all of them, which need not be done again while the file stays as it is.
type known struct {
	mu sync.Mutex
	of map[string]described
}

// described is a view as it was while the file had a stamp.
type described struct {
	*table
	stamp string
}

// maxKnown is how many views are kept of a file.
const maxKnown = 100

// restingTime is how long a file has to lie still before its stamp says anything: file
// systems tell the time in steps.
const restingTime = time.Second

// stamp tells the states of a file apart, and reports whether it has lain still.
func (f *file) stamp() (text string, still bool) {
	var parts []string
	still = true
	for _, suffix := range []string{"", "-wal", "-journal"} {
		info, err := os.Stat(f.path + suffix)
		if err != nil {
			if suffix == "" {
				return "", false
			}
			parts = append(parts, "-")
			continue
		}
		parts = append(parts, fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano()))
		still = still && time.Since(info.ModTime()) > restingTime
	}
	return strings.Join(parts, ", "), still
}

// find is a view as it is known, nil where it is not, and the stamp under which it can
// be kept, empty where it cannot.
func (k *known) find(f *file, view string) (t *table, stamp string) {
	stamp, still := f.stamp()
	if !still {
		return nil, ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if d, ok := k.of[view]; ok && d.stamp == stamp {
		return d.table, stamp
	}
	return nil, stamp
}

// keep keeps a view under its name, unless the file has changed while it was described.
func (k *known) keep(t *table, key, stamp string) {
	if now, still := t.stamp(); !still || now != stamp {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= maxKnown {
		k.of = make(map[string]described)
	}
	k.of[key] = described{t, stamp}
}
