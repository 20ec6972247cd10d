package sheet

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestIsShortest has numbers of all lengths, most of which are written in their shortest form.
func TestIsShortest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	known := 0
	check := func(text string) {
		n, err := strconv.ParseFloat(text, 64)
		if !isShortest([]byte(text)) {
			return
		}
		known++
		if got := string(appendNumber(nil, n)); err != nil || got != text {
			t.Errorf("%s is taken for the shortest form, which is %s (%v)", text, got, err)
		}
		if got, want := string(appendShortPercent(nil, []byte(text))), string(appendPercent(nil, n)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for range 20_000 {
		text := strconv.FormatUint(random.Uint64N(1<<random.UintN(55)), 10)
		if at := random.IntN(len(text) + 2); at <= len(text) {
			text = text[:at] + "." + text[at:]
		} else if at%2 == 0 {
			text = "0." + "00000000"[:random.UintN(9)] + text
		}
		check(text)
		check("-" + text)
	}
	for _, text := range []string{"", "-", ".", "0", "-0", "00", "0.0", "1.", ".5", "1.0", "1e5", "1.2.3", "+1", "0.0000001", "0.00000001", "123456789012345", "1234567890123456", "NaN", "1,5", "--1"} {
		check(text)
	}
	if known < 10_000 {
		t.Errorf("only %d are known to be", known)
	}
}
