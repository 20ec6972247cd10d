package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime is what this process and all that it has started have used of the
// processors so far, PostgreSQL included. It says what an exchange costs,
// whatever else the machine does meanwhile.
func CPUTime() time.Duration { return familyTime(os.Getpid()) }

// OwnTime is what this process alone has used of the processors so far.
func OwnTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of oneself it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// OwnPeak is the largest that this process has been in memory, in bytes.
func OwnPeak() int {
	_, peak := memory(os.Getpid())
	return peak
}

// familyTime is the processors' time of a process and of all that it has started.
func familyTime(root int) (total time.Duration) {
	for _, used := range family(root) {
		total += used
	}
	return total
}

// family finds a process and all that it has started and that still runs, and
// the processors' time of each, that of children that have ended included.
func family(root int) map[int]time.Duration {
	parents := make(map[int]int)
	members := make(map[int]time.Duration)
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent, own, ended := parseStat(string(text))
		if exact, ok := clockTime(pid); ok {
			own = exact
		}
		parents[pid], members[pid] = parent, own+ended
	}
	for pid := range members {
		ancestor := pid
		for ancestor != root && ancestor != 0 {
			ancestor = parents[ancestor]
		}
		if ancestor != root {
			delete(members, pid)
		}
	}
	return members
}

// clockTime reads the CPU clock of a process, see clock_getcpuclockid(3). Unlike its
// stat file it counts in nanoseconds. It fails for a process that has ended.
func clockTime(pid int) (time.Duration, bool) {
	const ofAllThreads = 2
	var at unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|ofAllThreads), &at)
	return time.Duration(at.Nano()), err == nil
}

// parseStat reads the parent of a process, its own time and that of its children that
// have ended out of its stat file; see proc_pid_stat(5).
func parseStat(text string) (parent int, own, ended time.Duration) {
	const tick = time.Second / 100 // USER_HZ, the same on every Linux
	// The name in the second field may hold anything.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return 0, 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	sum := func(fields []string) (used time.Duration) {
		for _, field := range fields {
			n, _ := strconv.Atoi(field)
			used += time.Duration(n) * tick
		}
		return used
	}
	return parent, sum(fields[11:13]), sum(fields[13:15])
}

// memory is the resident size of a process now and at its largest, in bytes.
func memory(pid int) (now, peak int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		var kB int
		fmt.Sscan(value, &kB)
		switch name {
		case "VmRSS":
			now = kB << 10
		case "VmHWM":
			peak = kB << 10
		}
	}
	return now, peak
}

// fsyncTime is the median time of writing and syncing a page of a small file.
func fsyncTime(folder string) (time.Duration, error) {
	f, err := os.Create(filepath.Join(folder, "fsync"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var times []time.Duration
	for range 101 {
		start := time.Now()
		if _, err := f.WriteAt(make([]byte, 4096), 0); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	return Median(times), nil
}
