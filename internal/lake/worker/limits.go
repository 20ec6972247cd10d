package worker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// maxFiles is how many files the process can have open: a few for itself, and
// those of a query.
const maxFiles = 256

// confine gives up what the process does not need, for good.
func confine(hello wire.Hello) error {
	if err := caged(); err != nil {
		return err
	}
	limits := []struct {
		name string
		what int
		most uint64
	}{
		{"core dumps", syscall.RLIMIT_CORE, 0},
		{"open files", syscall.RLIMIT_NOFILE, maxFiles},
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

// resident is how many bytes of memory the process holds, or zero where the
// system does not say.
func resident() int64 {
	text, err := statm()
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
