package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// attackMemory is what a server under attack may use, with its workers.
const attackMemory = 512 << 20

// memoryGroup is a control group that holds a server and its workers to
// attackMemory, or empty where this machine lets nobody make one.
type memoryGroup string

// memoryGroups counts the groups, so that each has a name of its own.
var memoryGroups atomic.Int64

// newMemoryGroup makes a group of attackMemory.
func newMemoryGroup(t *testing.T) memoryGroup {
	t.Helper()
	return newMemoryGroupOf(t, attackMemory)
}

// newMemoryGroupOf makes a group in whichever version of them the machine has.
func newMemoryGroupOf(t *testing.T, bytes int) memoryGroup {
	t.Helper()
	if raced() {
		return "" // the race detector takes several times as much
	}
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		group := filepath.Join(root, fmt.Sprintf("feedmill-attack-%d-%d", os.Getpid(), memoryGroups.Add(1)))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		// In a folder that is no group the file would only be made.
		limit, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
		if err == nil {
			_, err = limit.WriteString(strconv.Itoa(bytes))
			err = errors.Join(err, limit.Close())
		}
		if err != nil {
			os.Remove(group)
			continue
		}
		t.Cleanup(func() {
			// The workers end a moment after their server.
			for range 200 {
				if os.Remove(group) == nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Logf("%s is left", group)
		})
		return memoryGroup(group)
	}
	return ""
}

// killed is how many processes of the group were killed for want of memory.
func (g memoryGroup) killed(t *testing.T) int {
	t.Helper()
	for _, file := range []string{"memory.oom_control", "memory.events"} {
		text, err := os.ReadFile(filepath.Join(string(g), file))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if name, n, _ := strings.Cut(strings.TrimSpace(line), " "); name == "oom_kill" {
				killed, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				return killed
			}
		}
	}
	return 0
}

// serveLimited starts a server in the group.
func serveLimited(t *testing.T, group memoryGroup, env ...string) *process {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	if group == "" {
		t.Log("no control group can be made here, so the server is not limited from outside")
		return serve(t, data, append(env, "GOMEMLIMIT=250MiB")...) // what it takes for itself in the group
	}
	cmd, err := command(context.Background(), t.TempDir(), append(env, leashEnv+"=1"), "serve", "--listen=127.0.0.1:0", "--data="+data)
	if err != nil {
		t.Fatal(err)
	}
	// The program goes by its name, and becomes part of the group before it begins.
	link := filepath.Join(cmd.Dir, program)
	if err := os.Symlink(cmd.Path, link); err != nil {
		t.Fatal(err)
	}
	limited := exec.Command("/bin/sh", append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, string(group), link}, cmd.Args[1:]...)...)
	limited.Dir, limited.Env = cmd.Dir, cmd.Env
	p, err := start(limited)
	return p.until(t, err)
}
