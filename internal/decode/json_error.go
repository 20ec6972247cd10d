package decode

import (
	"bytes"
	"fmt"
)

// jsonProblem is the stable name of the problem that a document is no JSON.
const jsonProblem = "invalid-json"

// jsonFault is a fault at a byte of the data. The line and column are looked
// up when it becomes an error for the client, because finding them takes a
// look at all the data before it.
type jsonFault struct {
	offset int64
	detail string
}

func (f *jsonFault) Error() string {
	return fmt.Sprintf("byte %d: %s", f.offset, f.detail)
}

// refusal is the fault as the client sees it.
func (f *jsonFault) refusal(src Source) error {
	position, err := positionAt(src, f.offset)
	if err != nil {
		return fmt.Errorf("find the place of a fault in JSON: %w", err)
	}
	return refuse(jsonProblem, "the JSON is wrong at %v: %s", position, f.detail)
}

// positionAt finds the line and column of a byte.
func positionAt(src Source, offset int64) (Position, error) {
	position := Position{Line: 1, Offset: offset}
	lineStart := int64(0)
	buffer := make([]byte, min(offset, chunkSize))
	for base := int64(0); base < offset; base += chunkSize {
		part := buffer[:min(offset-base, chunkSize)]
		if err := readFull(src, part, base); err != nil {
			return Position{}, err
		}
		if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
			position.Line += int64(bytes.Count(part, []byte{'\n'}))
			lineStart = base + int64(last) + 1
		}
	}
	position.Column = offset - lineStart + 1
	return position, nil
}
