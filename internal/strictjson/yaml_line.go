package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// brokenLine returns the line at which a text stops being valid YAML, or 0 if finding it
// takes too long. The parser only reports where the mapping or list around the fault
// starts. So brokenLine searches for the longest valid prefix. A value of several lines is
// only valid with its last line, so some further lines are tried.
func brokenLine(data []byte) int {
	const further, budget = 20, 1 << 20
	var ends []int // the end of each line
	for at := 0; at < len(data); {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			end = len(data) - at - 1
		}
		at += end + 1
		ends = append(ends, at)
	}
	read := 0
	valid := func(lines int) bool {
		if lines == 0 {
			return true
		}
		read += ends[lines-1]
		return isYAML(data[:ends[lines-1]])
	}
	good, bad := 0, len(ends)
	for read < budget {
		if bad-good > 1 {
			if middle := (good + bad) / 2; valid(middle) {
				good = middle
			} else {
				bad = middle
			}
			continue
		}
		more := bad + 1
		for more < min(bad+further, len(ends)) && read < budget && !valid(more) {
			more++
		}
		if more >= min(bad+further, len(ends)) {
			return bad
		}
		good, bad = more, len(ends)
	}
	return 0
}

// isYAML reports whether all documents of a text are valid YAML.
func isYAML(data []byte) bool {
	documents := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if err := documents.Decode(&doc); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// FaultLine returns the line in the detail of a fault of [ReadYAML], or 0.
func FaultLine(detail string) (line int) {
	_, rest, _ := strings.Cut(detail, atLine)
	_, _ = fmt.Sscan(strings.TrimRight(strings.SplitN(rest+" ", " ", 2)[0], ";."), &line)
	return line
}

const atLine = " at line "
