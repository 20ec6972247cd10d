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
	// keptHead is the number of bytes that are kept of a response header. sparseHead
	// applies if incomplete headers already take maxHeads.
	keptHead   = 16 << 10
	sparseHead = 1 << 10
	maxHeads   = 4 << 20
	// neededHead is the additional space for lines that are needed to read the response.
	neededHead = 4 << 10
)

// pieces is a pool of buffers for responses. An exchange has one only while it contains
// something, because thousands of exchanges can wait for slow endpoints.
var pieces = sync.Pool{New: func() any { return new([answerBuffer]byte) }}

// await waits for the next piece of the response and sets c.piece, which is valid until
// dropPiece.
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

// takePiece reads from a socket into a pooled buffer. It returns false if there is no
// input.
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

// awaitByte waits for one byte, and then reads the rest of its TLS record.
func (c *conn) awaitByte() error {
	n, err := c.Conn.Read(c.one[:])
	if n == 0 {
		return err
	}
	c.buffer = pieces.Get().(*[answerBuffer]byte)
	c.buffer[0], n = c.one[0], 0
	if c.secure != nil {
		c.secure.records.paused = true
		n, _ = c.Conn.Read(c.buffer[1:min(answerBuffer, c.left)]) // an error comes again
		c.secure.records.paused = false
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

// readHead reads the header of a response whose first piece has been read. It sets c.unread
// to the kept lines and what follows the header. A header that ends early stays as it is.
// readHead reports whether lines were dropped.
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

// head collects a response header, without lines that exceed the limit.
type head struct {
	kept     []byte
	line     int  // start of the current line
	skipping bool // the current line is dropped
	dropped  bool // the previous line was dropped
	cut      bool // some line was dropped
	held     *atomic.Int64
	counted  int64 // the part of held that is for kept
}

// add adds a piece. When the header is complete, it returns the bytes that follow it.
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

// bound drops the current line if it exceeds the limit.
func (h *head) bound() error {
	line := h.kept[h.line:]
	folded := h.line > 0 && (line[0] == ' ' || line[0] == '\t')
	room := keptHead
	if h.held.Load() >= maxHeads {
		room = sparseHead
	}
	switch {
	case folded && h.dropped: // it continues a dropped line
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

// neededFields are the fields that determine how a response is read and when to retry.
var neededFields = []string{"connection", "content-encoding", "content-length", "retry-after", "trailer", "transfer-encoding"}

// isNeeded reports whether a line must be kept. Lines without a valid name are kept, so that
// the parser reports them.
func isNeeded(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(":"))
	return !ok || !httpguts.ValidHeaderFieldName(string(name)) || slices.Contains(neededFields, strings.ToLower(string(name)))
}

// count updates the number of bytes that incomplete headers take.
func (h *head) count() {
	if cap(h.kept) > 2*len(h.kept) {
		h.kept = bytes.Clone(h.kept)
	}
	size := int64(cap(h.kept))
	h.held.Add(size - h.counted)
	h.counted = size
}

func (h *head) release() { h.held.Add(-h.counted) }
