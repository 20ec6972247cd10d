package rig

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Resident is how much memory processes hold, in bytes.
type Resident struct {
	// Total is all of it: Anon their own, and File the pages of mapped files,
	// which the kernel can take back at any time.
	Total, Anon, File int
}

// Watch is a look at the memory of a Feedmill and its workers, taken again and again.
type Watch struct {
	stop chan struct{}
	done sync.WaitGroup
	root int
	peak Resident
}

// watchEvery is short against an upload and costs it little.
const watchEvery = 20 * time.Millisecond

// Watch begins to look at the memory of the Feedmill and its workers.
func (m *Mill) Watch() *Watch {
	w := &Watch{stop: make(chan struct{}), root: m.cmd.Process.Pid}
	w.done.Go(func() {
		for tick := time.NewTicker(watchEvery); ; {
			select {
			case <-tick.C:
				if now := familyMemory(w.root); now.Total > w.peak.Total {
					w.peak = now
				}
			case <-w.stop:
				tick.Stop()
				return
			}
		}
	})
	return w
}

// End ends the watch. It returns the memory at the moment at which most was
// seen of all processes together, and the sum of what each, as the kernel
// counts it, had at its largest, which may have been at different times.
func (w *Watch) End() (peak Resident, sum int) {
	close(w.stop)
	w.done.Wait()
	for pid := range family(w.root) {
		_, most := memory(pid)
		sum += most
	}
	return w.peak, sum
}

// familyMemory is the memory of a process and of all that it has started.
func familyMemory(root int) (all Resident) {
	for pid := range family(root) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			var kB int
			switch name {
			case "VmRSS":
				fmt.Sscan(value, &kB)
				all.Total += kB << 10
			case "RssAnon":
				fmt.Sscan(value, &kB)
				all.Anon += kB << 10
			case "RssFile":
				fmt.Sscan(value, &kB)
				all.File += kB << 10
			}
		}
	}
	return all
}
