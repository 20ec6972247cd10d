package typed

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// codecZstd is what Arrow calls zstd; LZ4, the other one, asks for little room.
const codecZstd = 1

// compressedBuffers looks at how the buffers of a batch are compressed before they are undone.
type compressedBuffers struct {
	data     input.Source
	at, size int64 // the body of the batch
	zstd     bool
	// longest is how long a buffer is that is undone, and window what undoing one takes.
	longest, window int64
}

// check looks at all of them. Each begins with how long it is. What undoes zstd makes as much room as the data asks
// for, and anew for each batch: what of that is more than the buffers need is returned.
func (c *compressedBuffers) check(buffers flatVector) (excess int64, err error) {
	for i := range buffers.n {
		if err := c.checkBuffer(buffers.word(i, 16, 0), buffers.word(i, 16, 8)); err != nil {
			return 0, err
		}
	}
	return max(c.window-2*c.longest, 0), nil
}

func (c *compressedBuffers) checkBuffer(from, length int64) error {
	if length == 0 {
		return nil
	}
	if from < 0 || length < 8 || length > c.size || from > c.size-length {
		return c.damaged("it is outside its batch")
	}
	head := make([]byte, min(length, 8+zstd.HeaderMaxSize))
	if err := input.ReadFull(c.data, head, c.at+from); err != nil {
		return err
	}
	long := int64(binary.LittleEndian.Uint64(head))
	if long == -1 { // it is not compressed
		return nil
	}
	if long < 0 || long > maxBody {
		return c.damaged(fmt.Sprintf("it has %d bytes; the maximum is %d. Write smaller batches", long, maxBody))
	}
	c.longest = max(c.longest, long)
	if !c.zstd {
		return nil
	}
	return c.checkFrame(head[8:], c.at+from+8, c.at+from+length)
}

// checkFrame looks at what zstd says of itself. There is one frame, so that none hides behind it.
func (c *compressedBuffers) checkFrame(head []byte, at, end int64) error {
	var frame zstd.Header
	if err := frame.Decode(head); err != nil || frame.Skippable {
		return c.damaged("it is not zstd data")
	}
	needed := frame.WindowSize
	if frame.SingleSegment {
		needed = frame.FrameContentSize
	}
	if needed > maxWindow {
		return c.damaged(fmt.Sprintf("decompressing it requires %d bytes; the maximum is %d. Compress it with a lower level", needed, maxWindow))
	}
	c.window = max(c.window, int64(needed))
	at += int64(frame.HeaderSize)
	for block := make([]byte, 3); ; {
		if at > end-3 {
			return c.damaged("its zstd data is truncated")
		}
		if err := input.ReadFull(c.data, block, at); err != nil {
			return err
		}
		says := int64(block[0]) | int64(block[1])<<8 | int64(block[2])<<16
		if at += 3 + says>>3; says>>1&3 == 1 { // one byte, many times
			at -= says>>3 - 1
		}
		if says&1 == 1 {
			break
		}
	}
	if frame.HasCheckSum {
		at += 4
	}
	if at != end {
		return c.damaged("its zstd data is truncated or continues after its end")
	}
	return nil
}

func (c *compressedBuffers) damaged(what string) error {
	return damaged("arrow", fmt.Sprintf("a compressed buffer of the batch at byte %d: %s", c.at, what))
}
