package main

import (
	"flag"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// program is the name under which the test binary is the program itself.
const program = "feedmill"

// What tests ask of the program that they start, through its environment.
const (
	// leashEnv asks it to end when its standard input does, as it does when
	// the tests are gone, however they went.
	leashEnv = "TEST_LEASH"
	// umaskEnv is the file mode mask that it starts with.
	umaskEnv = "TEST_UMASK"
	// raceEnv is for the race detector in it.
	raceEnv = "GORACE"
)

// atOnce is how many tests run at the same time unless -parallel says otherwise:
// more than there are processors, because they mostly wait for leases, retries
// and processes.
const atOnce = "6"

// TestMain makes the test binary two things: the tests, and the program that
// they run, so that nothing is compiled a second time and the race detector
// watches the program too.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", atOnce)
	// The race detector lets a process sleep for a second before it ends, unless
	// it is told otherwise; the tests start some hundreds.
	if os.Getenv(raceEnv) == "" {
		os.Setenv(raceEnv, "atexit_sleep_ms=10")
	}
	testscript.Main(m, map[string]func(){program: func() {
		if os.Getenv(leashEnv) != "" {
			go func() {
				io.Copy(io.Discard, os.Stdin)
				os.Exit(3)
			}()
		}
		if mask, err := strconv.ParseInt(os.Getenv(umaskEnv), 8, 32); err == nil {
			syscall.Umask(int(mask))
		}
		main()
	}})
}
