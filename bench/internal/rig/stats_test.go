package rig

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	var hundred []int
	for i := range 100 {
		hundred = append(hundred, 100-i)
	}
	for _, test := range []struct {
		values []int
		p      float64
		want   int
	}{
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
		{[]int{7}, 99, 7},
		{[]int{3, 1, 2}, 50, 2},
	} {
		if got := Percentile(test.values, test.p); got != test.want {
			t.Errorf("%v %% of %d values: %d, want %d", test.p, len(test.values), got, test.want)
		}
	}
}

func TestMedian(t *testing.T) {
	values := []float64{3, 1, 2}
	if got := Median(values); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
	if values[0] != 3 {
		t.Error("the values were moved")
	}
}

func TestParseStat(t *testing.T) {
	const text = "42 (a ) name) S 7 42 42 0 -1 4194304 1 2 3 4 150 50 20 5 20 0 9 0 1000\n"
	parent, own, ended := parseStat(text)
	if parent != 7 || own != 2*time.Second || ended != 250*time.Millisecond {
		t.Errorf("parent %d, own %v, ended children %v; want 7, 2s and 250ms", parent, own, ended)
	}
	if parent, own, ended := parseStat("42 (gone"); parent != 0 || own != 0 || ended != 0 {
		t.Errorf("a broken line: %d, %v, %v", parent, own, ended)
	}
}

// TestClockTime holds the CPU clock of a process against what getrusage says of it.
func TestClockTime(t *testing.T) {
	before := OwnTime()
	got, ok := clockTime(os.Getpid())
	// The kernel keeps getrusage's numbers in microseconds, and updates those of running threads later.
	if !ok || got < before-time.Microsecond {
		t.Errorf("%v (%t), want at least %v", got, ok, before)
	}
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if got, ok := clockTime(child.Process.Pid); ok {
		t.Errorf("a process that has ended has a clock: %v", got)
	}
}

func TestParts(t *testing.T) {
	before := Parts{"sink": time.Second, "feedmill": 2 * time.Second}
	parts := Parts{"sink": 2 * time.Second, "feedmill": 4 * time.Second, "walwriter": time.Microsecond}.Since(before)
	if got := parts.Each(1000); got != "feedmill 2000.0, sink 1000.0" || parts.Sum() != 3*time.Second+time.Microsecond {
		t.Errorf("%q, %v in all", got, parts.Sum())
	}
	if parts := CPUParts(); len(parts) == 0 {
		t.Error("this process is no part")
	}
}

func TestChosen(t *testing.T) {
	for _, test := range []struct {
		only, name string
		want       bool
	}{
		{"", "mixed", true},
		{"mix", "mixed", true},
		{"wide,mix", "mixed", true},
		{"wide", "mixed", false},
	} {
		if got := Chosen(test.only, test.name); got != test.want {
			t.Errorf("-only %q, %q: %t, want %t", test.only, test.name, got, test.want)
		}
	}
}
