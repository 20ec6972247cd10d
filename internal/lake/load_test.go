package lake

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestUseThatCountsLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loads{over: 2 * time.Second, of: make(map[string]load)}
		l.add("a", 300*time.Millisecond)
		if l.isMuch("a") || l.isMuch("b") {
			t.Error("a little is much")
		}
		if l.add("a", 300*time.Millisecond); !l.isMuch("a") || l.isMuch("b") {
			t.Error("much is little")
		}
		if time.Sleep(time.Second); l.isMuch("a") || !l.isMuchWith("a", 200*time.Millisecond) {
			t.Error("use counts for ever, or not at all")
		}
		time.Sleep(time.Minute)
		for i := range manyLoads {
			l.add(fmt.Sprint(i), time.Second)
		}
		if _, kept := l.of["a"]; kept {
			t.Error("what does not count is kept")
		}
	})
}
