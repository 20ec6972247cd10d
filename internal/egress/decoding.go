package egress

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minWindow and maxWindow limit the window of a zstd frame, which is memory that the frame
// requests. Encoders can use 8 MiB on the web (RFC 9659). For small limits less is allowed,
// but never less than zstd's default.
const (
	minWindow = 2 << 20
	maxWindow = 8 << 20
)

// decodingReader decompresses src. It creates the decoder at the first read, because
// creating it reads from src.
type decodingReader struct {
	encoding string
	src      io.Reader
	limit    int64
	r        io.Reader
	err      error // sticky
}

func (d *decodingReader) Read(p []byte) (int, error) {
	if d.r == nil && d.err == nil {
		d.err = d.start()
	}
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.r.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = fmt.Errorf("%w: its zstd window is larger than %d bytes", ErrTooLarge, d.window())
	}
	d.err = err
	return n, err
}

func (d *decodingReader) start() (err error) {
	switch d.encoding {
	case "gzip", "x-gzip":
		d.r, err = gzip.NewReader(d.src)
	case "zstd":
		// With a concurrency of one there is no goroutine, so the decoder need not be
		// closed.
		d.r, err = zstd.NewReader(d.src,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(d.window()))
	default:
		err = fmt.Errorf("%w %q", ErrEncoding, d.encoding)
	}
	return err
}

func (d *decodingReader) window() uint64 {
	return uint64(min(max(d.limit, minWindow), maxWindow))
}
