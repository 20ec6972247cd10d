package main

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxProgram is how large the program may be, in bytes.
const maxProgram = 115_000_000

// TestBuildsAreReproducible builds the program from two copies of its sources,
// and the bytes are the same. The short form looks at how it would be built.
func TestBuildsAreReproducible(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if !longOr(false, true) {
		plan, err := exec.Command("make", "-n", "-C", root, "build", "VERSION=v1").CombinedOutput()
		if err != nil {
			t.Skipf("there is no make: %v: %s", err, plan)
		}
		for _, flag := range []string{"-DHAVE_FDATASYNC=1", "-trimpath", "-buildvcs=false", "-buildid= ", "-s -w ", "main.version=v1", "manual.updated="} {
			if !strings.Contains(string(plan), flag) {
				t.Errorf("%q is missing in %s", flag, plan)
			}
		}
		return
	}
	var sums [2][sha256.Size]byte
	for i, name := range []string{"a", "another/and/longer"} {
		folder := filepath.Join(t.TempDir(), name)
		if err := os.CopyFS(folder, os.DirFS(root)); err != nil {
			t.Fatal(err)
		}
		build := exec.Command("make", "-C", folder, "build", "VERSION=v1")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		program, err := os.ReadFile(filepath.Join(folder, "bin/feedmill"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(program)
		if len(program) > maxProgram {
			t.Errorf("the program has %d bytes, more than %d", len(program), maxProgram)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds are %x and %x", sums[0], sums[1])
	}
}
