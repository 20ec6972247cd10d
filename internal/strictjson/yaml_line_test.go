package strictjson

import (
	"strings"
	"testing"
)

// The line that is broken is named, and not the one where what is around it begins.
func TestBrokenLine(t *testing.T) {
	before := "request:\n  url: https://api.test/\n  query:\n    a: [1,\n      2,\n      3]\n    b: \"x\n      y\"\n    c: |\n      text\n"
	lines := strings.Count(before, "\n")
	for text, line := range map[string]int{
		"auth: x: y\n": 1, "a: 1\nauth\nkey: [id]\n": 2, "key: [id\nmode: merge\n": 1, "name: \"x\nmode: merge\n": 1, "a: 1\n  b: 2\n": 2,
		"a: 1\n\tb: 2\n": 2, "a: 1\nb: *nowhere\n": 2, "a: {b: 1\nmode: merge\n": 1, "a: 1\n- b\n": 2, "name: 'it's'\nb: 1\n": 1, "a: 1\nname: @x\n": 2, "a: {b: 1}}\n": 1, "a: 1\nb: \"\\q\"\n": 2, "a: [x]\n b: 1\nc: 2\n": 2,
	} {
		for prefix, more := range map[string]int{"": 0, before: lines} {
			detail := ""
			_, ok := ReadYAML([]byte(prefix+text+"last: 1\n"), func(_, said string) bool { detail = said; return true })
			if got := FaultLine(detail); ok || got != more+line {
				t.Errorf("%q after %d lines: line %d, want %d: %s", text, more, got, more+line, detail)
			}
		}
	}
	long := strings.Repeat("- a: 1\n  b: [1,\n    2]\n", 5000)
	if got := brokenLine([]byte(long + "- a: b: c\n" + long)); got != 0 {
		t.Errorf("line %d of a text that is too long to look for it", got)
	}
}
