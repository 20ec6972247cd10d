package machine

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// availableMemory returns the number of bytes that this process can use: the smallest of
// the machine's memory, its cgroup limits and its resource limits. It returns 0 if unknown.
func availableMemory() int64 {
	least := int64(math.MaxInt64)
	var machine syscall.Sysinfo_t
	if err := syscall.Sysinfo(&machine); err == nil {
		least = int64(machine.Totalram) * int64(machine.Unit)
	}
	for _, what := range []int{syscall.RLIMIT_AS, rlimitData} {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(what, &limit); err == nil && limit.Cur < math.MaxInt64 {
			least = min(least, int64(limit.Cur))
		}
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err == nil {
		least = min(least, groupMemory(groups, "/sys/fs/cgroup"))
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// rlimitData is RLIMIT_DATA, which package syscall does not define.
const rlimitData = 2

// groupMemory returns the smallest memory limit of the cgroups in groups, which has the
// format of /proc/self/cgroup, and of their parents. It supports both cgroup versions.
// mounted is where cgroups are mounted.
func groupMemory(groups []byte, mounted string) int64 {
	least := int64(math.MaxInt64)
	lines := bufio.NewScanner(bytes.NewReader(groups))
	for lines.Scan() {
		// Number, controllers and path. cgroup v2 has no controllers.
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		folder, file := "", ""
		switch {
		case parts[1] == "":
			folder, file = mounted, "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			folder, file = filepath.Join(mounted, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		// A container can see its own cgroup as the root.
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			if limit, ok := readLimit(filepath.Join(folder, at, file)); ok {
				least = min(least, limit)
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}

// readLimit reads a cgroup limit. It returns false for "max".
func readLimit(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return limit, err == nil && limit > 0
}
