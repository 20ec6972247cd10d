package feedmill

import "testing"

func TestColumnNumber(t *testing.T) {
	for id, want := range map[string]int{"c1": 1, "c7": 7, "c2147483647": 1<<31 - 1, "": 0, "c": 0, "c0": 0, "c-1": 0, "7": 0, "x7": 0, "c2147483648": 0, "c7x": 0} {
		if got := (&Column{ID: id}).Number(); got != want {
			t.Errorf("the number of %q is %d, want %d", id, got, want)
		}
	}
}
