package egress

import (
	"strings"
	"testing"
)

func TestIsPlain(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := []byte(strings.Repeat("~ ", length)[:length])
				text[at] = byte(c)
				if got, want := isPlain(string(text)), c >= ' ' && c < 0x7f; got != want {
					t.Fatalf("%q is plain: %v, want %v", text, got, want)
				}
			}
		}
	}
}
