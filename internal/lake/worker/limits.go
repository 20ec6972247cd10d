package worker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// maxFiles is how many files the process can have open, if it was started with as many: a few
// for itself, and those of a query. A version that many merges have just changed has thousands.
const maxFiles = 16_384

// confine gives up what the process does not need, for good.
func confine(hello wire.Hello) error {
	if err := caged(); err != nil {
		return err
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	limits := []struct {
		name string
		what int
		most uint64
	}{
		{"core dumps", syscall.RLIMIT_CORE, 0},
		{"open files", syscall.RLIMIT_NOFILE, min(maxFiles, files.Max)},
		{"the size of a file", syscall.RLIMIT_FSIZE, uint64(hello.TempBytes)},
		{"memory", syscall.RLIMIT_AS, uint64(hello.AddressSpace)},
	}
	for _, l := range limits {
		if l.what == syscall.RLIMIT_AS && l.most == 0 {
			continue
		}
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// inMemory is what a process has in memory, in bytes; zero where the system does not say.
type inMemory struct {
	// own is what is not of files. The system can drop those, and workers and the server
	// have most of them together: the pages of the program.
	own int64
	// data is what it could write to, whether it has or not.
	data int64
}

// held is what this process has in memory.
func held() (m inMemory) {
	text, err := statm()
	if err != nil {
		return m
	}
	var pages [6]int64 // size, resident, shared, text, lib, data
	for i, field := range strings.Fields(string(text)) {
		if i == len(pages) {
			break
		}
		if pages[i], err = strconv.ParseInt(field, 10, 64); err != nil {
			return m
		}
	}
	size := int64(os.Getpagesize())
	return inMemory{own: (pages[1] - pages[2]) * size, data: pages[5] * size}
}

// confineData bounds the memory that the process can write to, once it has what it
// needs to begin: what it allocates too fast for [watchMemory] fails.
func confineData(hello wire.Hello) error {
	m := held()
	if hello.Process <= 0 || m.data == 0 {
		return nil
	}
	most := uint64(m.data + hello.Process + dataSlack)
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("limit data: %w", err)
	}
	return nil
}

// dataSlack is for what is reserved and never used: arenas of the allocators, and stacks
// of threads.
const dataSlack = 128 << 20
