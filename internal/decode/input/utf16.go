package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// wideEncoding tells by the zero bytes of a whole text whether it is UTF-16. Separators
// and line ends are ASCII in a table of any script, and one byte of each is zero: always
// the first or always the second of two, but for a few other characters. A few zero
// bytes somewhere make no UTF-16.
func wideEncoding(ctx context.Context, src Source) (Encoding, bool, error) {
	size := src.Size()
	if size%2 != 0 {
		return UTF8, false, nil
	}
	in := NewContextReader(ctx, io.NewSectionReader(src, 0, size))
	buffer := make([]byte, 64<<10) // an even number, so that each begins with the first of two
	var zeros [2]int64
	for {
		n, err := io.ReadFull(in, buffer)
		for at := 0; at < n; at++ {
			next := bytes.IndexByte(buffer[at:n], 0)
			if next < 0 {
				break
			}
			at += next
			zeros[at&1]++
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return UTF8, false, fmt.Errorf("look for UTF-16: %w", err)
		}
	}
	const characters = 200 // of which at least one is ASCII
	enough := max(2, size/(2*characters))
	switch {
	case zeros[1] > max(enough, 8*zeros[0]):
		return UTF16LE, true, nil
	case zeros[0] > max(enough, 8*zeros[1]):
		return UTF16BE, true, nil
	}
	return UTF8, false, nil
}
