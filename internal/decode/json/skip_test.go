package json

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// skipSlowly finds the end of an object or array byte by byte.
func skipSlowly(data []byte) (end int, ended bool) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(data), false
}

// Blocks and single bytes find the same ends, wherever quotes, brackets and escapes are
// in a block, and in whatever parts the value comes.
func TestSkip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const letters = `"{}[]\,:a7ü` + "\xfb\xfd\xdb\xdd\xa2\x02\x00\x1b\x1d\n"
	for round := range 20_000 {
		rare := 1 + random.IntN(30) // every so many bytes is one of the letters
		value := []byte{"{["[random.IntN(2)]}
		for range random.IntN(400) {
			c := byte('a' + random.IntN(26))
			if random.IntN(rare) == 0 {
				c = letters[random.IntN(len(letters))]
			}
			value = append(value, c)
		}
		want, ended := skipSlowly(value)
		data := append(bytes.Clone(value), make([]byte, 8)...)
		var s skipper
		i, size := 0, 0
		for size < len(value) {
			size = min(len(value), size+1+random.IntN(2+200*(round%2)))
			if s.skip(data, size, &i) {
				break
			}
		}
		if i != want && (ended || i < want-1) || ended != (s.depth == 0) {
			t.Fatalf("%q ends at %d of %d, %v; the depth is %d", value, i, want, ended, s.depth)
		}
	}
}
