package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/net/http/httpguts"
)

const (
	// keptHead is how much of an answer's header is kept, and sparseHead how much
	// where the headers that have come in part take maxHeads already.
	keptHead   = 16 << 10
	sparseHead = 1 << 10
	maxHeads   = 4 << 20
	// neededHead is what may come besides of lines without which the answer
	// cannot be read.
	neededHead = 4 << 10
)

// pieces are buffers for what is read of answers. An exchange has one only while
// there is something in it: thousands may wait for endpoints that say nothing.
var pieces = sync.Pool{New: func() any { return new([answerBuffer]byte) }}

// await waits for the next piece of the answer and has it in c.piece. It may be used
// until dropPiece.
func (c *conn) await() error {
	c.dropPiece()
	if c.left <= 0 {
		return errHeaderTooLarge
	}
	var err error
	if c.secure == nil && c.socket != nil {
		if err = c.socket.Read(c.take); err == nil {
			err = c.takeErr
		}
	} else {
		err = c.awaitByte()
	}
	c.left -= int64(len(c.piece))
	return err
}

// takePiece reads from a socket into a buffer that it has for the moment. It
// reports false where nothing is there.
func (c *conn) takePiece(fd uintptr) bool {
	buffer := pieces.Get().(*[answerBuffer]byte)
	n, err := syscall.Read(int(fd), buffer[:min(answerBuffer, c.left)])
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), buffer[:min(answerBuffer, c.left)])
	}
	if n > 0 {
		c.buffer, c.piece, c.takeErr = buffer, buffer[:n], nil
		return true
	}
	pieces.Put(buffer)
	switch err {
	case syscall.EAGAIN:
		return false
	case nil:
		c.takeErr = io.EOF
	default:
		c.takeErr = &net.OpError{Op: "read", Net: "tcp", Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", err)}
	}
	return true
}

// awaitByte waits for one byte, behind which TLS has the rest of its record.
func (c *conn) awaitByte() error {
	n, err := c.Conn.Read(c.one[:])
	if n == 0 {
		return err
	}
	c.buffer = pieces.Get().(*[answerBuffer]byte)
	c.buffer[0], n = c.one[0], 0
	if c.secure != nil {
		c.secure.records.dry = true
		n, _ = c.Conn.Read(c.buffer[1:min(answerBuffer, c.left)]) // an error comes again
		c.secure.records.dry = false
	}
	c.piece = c.buffer[:1+n]
	return nil
}

func (c *conn) dropPiece() {
	if c.buffer != nil {
		pieces.Put(c.buffer)
	}
	c.buffer, c.piece = nil, nil
}

// readHead reads the header of an answer of which the first piece has come, and
// puts what is kept of it before what has come behind it. A header that ends
// early is left as it is. It reports whether lines were left out.
func (c *conn) readHead(piece []byte) (cut bool, err error) {
	h := head{held: &c.pool.heads}
	defer h.release()
	for {
		rest, ended, err := h.add(piece)
		if err != nil {
			return false, err
		}
		if ended {
			c.unread = append(h.kept, rest...)
			c.dropPiece()
			return h.cut, nil
		}
		if err := c.await(); errors.Is(err, io.EOF) {
			c.unread = h.kept
			return h.cut, nil
		} else if err != nil {
			return false, err
		}
		piece = c.piece
	}
}

// head is the header of an answer as it comes, without lines that are too many.
type head struct {
	kept     []byte
	line     int  // where the line begins that has not ended
	skipping bool // the line that has not ended is not kept
	dropped  bool // nor was the last
	cut      bool // a line was not kept
	held     *atomic.Int64
	counted  int64 // of what is kept, in held
}

// add takes a piece. When the header has ended it returns what is behind.
func (h *head) add(piece []byte) (rest []byte, ended bool, err error) {
	for len(piece) > 0 {
		part, ends := piece, false
		if i := bytes.IndexByte(piece, '\n'); i >= 0 {
			part, ends = piece[:i+1], true
		}
		piece = piece[len(part):]
		if !h.skipping {
			h.kept = append(h.kept, part...)
			if err := h.bound(); err != nil {
				return nil, false, err
			}
		}
		if !ends {
			continue
		}
		line := bytes.TrimRight(h.kept[h.line:], "\r\n")
		if !h.skipping && len(line) == 0 && h.line > 0 {
			return piece, true, nil
		}
		h.dropped, h.skipping, h.line = h.skipping, false, len(h.kept)
	}
	h.count()
	return nil, false, nil
}

// bound drops the line that has not ended where there is no room for it.
func (h *head) bound() error {
	line := h.kept[h.line:]
	folded := h.line > 0 && (line[0] == ' ' || line[0] == '\t')
	room := keptHead
	if h.held.Load() >= maxHeads {
		room = sparseHead
	}
	switch {
	case folded && h.dropped: // it continues a line that is not kept
	case len(h.kept) <= room:
		return nil
	case h.line == 0 || folded || isNeeded(line):
		if len(h.kept) > keptHead+neededHead {
			return errHeaderTooLarge
		}
		return nil
	}
	h.kept, h.skipping, h.cut = h.kept[:h.line], true, true
	return nil
}

// neededFields say where an answer ends and how it is to be read, and when to try
// again.
var neededFields = []string{"connection", "content-encoding", "content-length", "retry-after", "trailer", "transfer-encoding"}

// isNeeded reports whether a line cannot be left out: also where it has no name
// yet, or none that is right, so that what is wrong with it is found.
func isNeeded(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(":"))
	return !ok || !httpguts.ValidHeaderFieldName(string(name)) || slices.Contains(neededFields, strings.ToLower(string(name)))
}

// count notes what the header takes while more of it is awaited.
func (h *head) count() {
	if cap(h.kept) > 2*len(h.kept) {
		h.kept = bytes.Clone(h.kept)
	}
	size := int64(cap(h.kept))
	h.held.Add(size - h.counted)
	h.counted = size
}

func (h *head) release() { h.held.Add(-h.counted) }
