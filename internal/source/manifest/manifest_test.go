package manifest

import "testing"

func TestBuiltIn(t *testing.T) {
	all, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5 {
		t.Errorf("there are %d", len(all))
	}
}
