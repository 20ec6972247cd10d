package json

import "testing"

// TestDigitsEnd compares the scan of eight bytes with one of single bytes, for every byte behind and
// between digits.
func TestDigitsEnd(t *testing.T) {
	for length := range 20 {
		for c := range 256 {
			data := make([]byte, 24+textPadding)
			for i := range data[:24] {
				data[i] = "0123456789"[(i+c)%10]
			}
			data[length] = byte(c)
			want := 0
			for data[want] >= '0' && data[want] <= '9' {
				want++
			}
			if got := digitsEnd(data, 0); got != want {
				t.Fatalf("digits end at %d, want %d: %q", got, want, data)
			}
		}
	}
}
