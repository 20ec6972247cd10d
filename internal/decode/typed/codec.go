package typed

import (
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is how much memory undoing zstd may take. It is what the format asks every decoder to have.
const maxWindow = 8 << 20

var errUndone = errors.New("a page is longer than its declared size")

// What arrow-go undoes pages with makes as much room as the compressed bytes ask for. These make none: a
// page is undone into the buffer that it has, of the length that the file says.
func init() {
	unzip, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(maxPage))
	if err != nil {
		panic(err) // the options are wrong
	}
	bound(compress.Codecs.Zstd, func(known compress.Codec) compress.Codec {
		return zstdPages{boundedCodec{known, func(to, from []byte) ([]byte, error) { return unzip.DecodeAll(from, to[:0]) }}}
	})
	bound(compress.Codecs.Snappy, func(known compress.Codec) compress.Codec {
		return boundedCodec{known, func(to, from []byte) ([]byte, error) {
			if n, err := snappy.DecodedLen(from); err != nil || n > len(to) {
				return nil, errors.Join(errUndone, err)
			}
			return snappy.Decode(to, from)
		}}
	})
	for _, known := range []compress.Compression{compress.Codecs.Gzip, compress.Codecs.Brotli} {
		bound(known, func(known compress.Codec) compress.Codec {
			return streamedPages{boundedCodec{known, func(to, from []byte) ([]byte, error) { return compress.Decode(known, to, from) }}, known.(compress.StreamingCodec)}
		})
	}
}

func bound(name compress.Compression, wrap func(compress.Codec) compress.Codec) {
	known, err := compress.GetCodec(name)
	if err != nil {
		panic(err) // arrow-go knows it no longer
	}
	compress.RegisterCodec(name, wrap(known))
}

// boundedCodec undoes a page into a buffer of its length.
type boundedCodec struct {
	compress.Codec
	decode func(to, from []byte) ([]byte, error)
}

// DecodeWithError undoes a page. One of no bytes has none, whatever is in it.
func (c boundedCodec) DecodeWithError(to, from []byte) ([]byte, error) {
	if len(to) == 0 {
		return to, nil
	}
	return c.decode(to, from)
}

// streamedPages undoes a long page in parts.
type streamedPages struct {
	boundedCodec
	compress.StreamingCodec
}

type zstdPages struct{ boundedCodec }

// NewReader undoes a long page in parts.
func (zstdPages) NewReader(r io.Reader) io.ReadCloser {
	unzip, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // which is a refusal
	}
	return unzip.IOReadCloser()
}

func (c zstdPages) NewWriter(w io.Writer) io.WriteCloser {
	return c.Codec.(compress.StreamingCodec).NewWriter(w)
}

func (c zstdPages) NewWriterLevel(w io.Writer, level int) (io.WriteCloser, error) {
	return c.Codec.(compress.StreamingCodec).NewWriterLevel(w, level)
}
