package decode

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

const (
	// maxEncodings is how many codings may be named, of which one compresses.
	maxEncodings = 3
	// maxWindow is how much memory undoing zstd may take. It is what the
	// format asks every decoder to have.
	maxWindow = 8 << 20
)

// Decompress undoes the codings of a Content-Encoding header, gzip and zstd,
// and reads no more than limit bytes of what comes out: past it the read fails
// with [feedmill.ErrTooLarge], however few bytes went in. No coding, or identity,
// reads r as it is, under the same limit.
//
// A read of r that fails is reported as it failed. The reader must be closed; r
// is not.
func Decompress(r io.Reader, contentEncoding string, limit int64) (io.ReadCloser, error) {
	source := &countingReader{from: r}
	d := &decompressor{source: source, in: source, limit: limit, left: limit}
	codings := strings.Split(contentEncoding, ",")
	if len(codings) > maxEncodings {
		return nil, unknownCoding(contentEncoding)
	}
	codings = slices.DeleteFunc(codings, isIdentity)
	if len(codings) > 1 {
		return nil, twiceCompressed(contentEncoding)
	}
	for _, coding := range codings {
		if err := d.undo(strings.ToLower(strings.TrimSpace(coding))); err != nil {
			_ = d.Close()
			return nil, err
		}
	}
	return d, nil
}

func isIdentity(coding string) bool {
	coding = strings.TrimSpace(coding)
	return coding == "" || strings.EqualFold(coding, "identity")
}

// twiceCompressed refuses more than one layer: a few bytes could stand for any
// number of them.
func twiceCompressed(codings string) error {
	return &feedmill.Error{
		Kind: feedmill.ErrUnsupported, Type: "content-encoding",
		Detail: fmt.Sprintf("the content encoding %q has more than one layer of compression; compress the data only once", codings),
	}
}

func unknownCoding(name string) error {
	return &feedmill.Error{
		Kind: feedmill.ErrUnsupported, Type: "content-encoding",
		Detail: fmt.Sprintf("the content encoding %q is not supported; use gzip, zstd or none", name),
	}
}

// decompressor reads through a decoder.
type decompressor struct {
	source *countingReader
	in     io.Reader
	close  []func()
	coding string
	limit  int64
	left   int64
}

// undo puts the decoder of a coding behind those that are there.
func (d *decompressor) undo(coding string) error {
	switch coding {
	case "gzip", "x-gzip":
		d.coding = "gzip"
		unzip, err := gzip.NewReader(bufio.NewReaderSize(d.in, 64<<10))
		if err != nil {
			return d.fault(err)
		}
		d.in = unzip
		d.close = append(d.close, func() { _ = unzip.Close() })
	case "zstd":
		d.coding = "zstd"
		unzip, err := zstd.NewReader(d.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return d.fault(err)
		}
		d.in = unzip
		d.close = append(d.close, unzip.Close)
	default:
		return unknownCoding(coding)
	}
	return nil
}

func (d *decompressor) Read(p []byte) (int, error) {
	if d.left == 0 {
		// Data that ends exactly at the limit is not past it.
		n, err := io.ReadFull(d.in, make([]byte, 1))
		if n == 0 && err == io.EOF {
			return 0, io.EOF
		}
		if n == 0 {
			return 0, d.fault(err)
		}
		return 0, &feedmill.Error{
			Kind: feedmill.ErrTooLarge, Type: "data-too-large",
			Detail: fmt.Sprintf("the decompressed data is longer than %d bytes, the maximum", d.limit),
		}
	}
	n, err := d.in.Read(p[:min(int64(len(p)), d.left)])
	d.left -= int64(n)
	if err != nil && err != io.EOF {
		err = d.fault(err)
	}
	return n, err
}

// Close lets go of the decoders.
func (d *decompressor) Close() error {
	for _, closer := range d.close {
		closer()
	}
	d.close = nil
	return nil
}

// fault tells the fault of compressed data from that of its source.
func (d *decompressor) fault(err error) error {
	switch {
	case d.source.err != nil:
		return d.source.err
	case d.coding == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return input.Refuse("truncated-data", "the %s data is truncated after %d bytes", d.coding, d.source.read)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return input.Refuse("compressed-data", "the zstd data requires a window of more than %d bytes, the maximum; compress it without --long", maxWindow)
	default:
		return input.Refuse("compressed-data", "the %s data is damaged within its first %d bytes: %v", d.coding, d.source.read, err)
	}
}

// countingReader counts what was read and keeps how reading failed.
type countingReader struct {
	from io.Reader
	read int64
	err  error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}
