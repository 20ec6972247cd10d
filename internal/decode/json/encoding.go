package json

import "github.com/feedmill/feedmill/internal/decode/input"

// encodingOf is [input.EncodingOf] for JSON, which begins with a character that is
// ASCII, whatever follows it.
func encodingOf(head []byte) (encoding input.Encoding, mark int) {
	if encoding, mark = input.EncodingOf(head); mark > 0 || len(head) < 4 {
		return encoding, mark
	}
	switch {
	case head[0] != 0 && head[1] == 0:
		return input.UTF16LE, 0
	case head[0] == 0 && head[1] != 0:
		return input.UTF16BE, 0
	}
	return input.UTF8, 0
}
