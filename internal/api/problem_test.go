package api

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestLongNamesAreCut holds that a problem does not give back all of a name that is as long as the body.
func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("é", maxName)
	p := problemOf(feedmill.Invalid("no", feedmill.Fault{Pointer: "/" + long}, feedmill.Fault{Parameter: long}, feedmill.Fault{Pointer: "/name"}), "/", "")
	for i, name := range []string{*p.Errors[0].Pointer, p.Errors[1].Parameter} {
		if len(name) > maxName+len("…") || !strings.HasSuffix(name, "é…") {
			t.Errorf("the name %d has %d bytes and ends with %q", i, len(name), name[len(name)-8:])
		}
	}
	if *p.Errors[2].Pointer != "/name" {
		t.Errorf("a short name became %q", *p.Errors[2].Pointer)
	}
}
