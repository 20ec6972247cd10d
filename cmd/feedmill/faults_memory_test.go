package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
)

// memory is what a server has taken.
type memory struct {
	// peak is the most that was ever resident.
	peak int64
	// program is how much of the program's own file is resident. The kernel can
	// take it back, and how much it maps depends on how the file was written.
	program int64
	// runtime is what the Go runtime has from the system: without SQLite,
	// and without the race detector, which needs several times as much.
	runtime int64
}

func (m memory) String() string {
	return fmt.Sprintf("at most %d MiB resident, %d MiB asked for by Go", m.peak>>20, m.runtime>>20)
}

func (p *process) memory(t *testing.T) memory {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, metrics, err := send(http.MethodGet, p.url+"/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	return memory{
		peak:    int64(number(t, status, `VmHWM:\s+(\d+) kB`)) << 10,
		program: int64(number(t, status, `RssFile:\s+(\d+) kB`)) << 10,
		runtime: int64(number(t, metrics, `(?m)^go_memstats_sys_bytes (\S+)$`)),
	}
}

// number is the number in a text that the pattern's first group matches.
func number(t *testing.T, text []byte, pattern string) float64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindSubmatch(text)
	if m == nil {
		t.Fatalf("there is no %s in\n%s", pattern, text)
	}
	n, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// boundMemory fails where the server has taken more than most.
func (p *process) boundMemory(t *testing.T, most int64) {
	t.Helper()
	m := p.memory(t)
	took := m.peak
	if raced() {
		took = m.runtime
	}
	if took > most {
		t.Errorf("the server has taken %v, want at most %d MiB", m, most>>20)
	}
}

// raced reports whether the race detector is compiled in.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
