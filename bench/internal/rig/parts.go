package rig

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Parts is the processors' time of this process and of all that it has started,
// by what they are.
type Parts map[string]time.Duration

// CPUParts is what each part has used so far. That of processes that have ended
// is with the one that had started them.
func CPUParts() Parts {
	parts := make(Parts)
	for pid, used := range family(os.Getpid()) {
		parts[partName(pid)] += used
	}
	return parts
}

// partName says what a process is: the role of one of the benchmark's own, what
// PostgreSQL calls one of its own, or else the program. Connections to PostgreSQL
// are one part.
func partName(pid int) string {
	if pid == os.Getpid() {
		return "publisher"
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	program, args, _ := strings.Cut(string(text), "\x00")
	if kind, ok := strings.CutPrefix(program, "postgres: "); ok {
		if strings.Contains(kind, " feedmill_") {
			return "connections"
		}
		return strings.TrimSpace(kind)
	}
	if own, _ := os.Executable(); filepath.Base(program) == filepath.Base(own) {
		role, _, _ := strings.Cut(args, "\x00")
		return role
	}
	return filepath.Base(program)
}

// Since are the differences to what was used before.
func (p Parts) Since(before Parts) Parts {
	d := make(Parts)
	for name, used := range p {
		d[name] = used - before[name]
	}
	return d
}

// Each is what one of n things took of each part, the largest first; what took
// next to nothing is left out.
func (p Parts) Each(n int) string {
	names := slices.SortedFunc(maps.Keys(p), func(a, b string) int { return cmp.Compare(p[b], p[a]) })
	var texts []string
	for _, name := range names {
		if each := p[name].Seconds() / float64(n) * 1e6; each >= 0.1 {
			texts = append(texts, fmt.Sprintf("%s %.1f", name, each))
		}
	}
	return strings.Join(texts, ", ")
}

// Sum is that of all parts together.
func (p Parts) Sum() (sum time.Duration) {
	for _, used := range p {
		sum += used
	}
	return sum
}
