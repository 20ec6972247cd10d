package egress

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
)

var (
	// ErrTooLarge reports that a body exceeds its limit.
	ErrTooLarge = errors.New("the response is too large")
	// ErrEncoding reports a Content-Encoding other than gzip, zstd and identity.
	ErrEncoding = errors.New("unsupported content encoding")
)

// LimitedBody returns the body of a response, decompressed if the transport has not done so
// (gzip and zstd), up to limit bytes. Reading a longer body returns its first limit bytes
// and then an error that matches [ErrTooLarge]. Closing it closes the response's body.
//
// Memory does not depend on what the body claims. It is that of the decoder's window: 32 KiB
// for gzip, and for zstd the limit, within 2 and 8 MiB. A zstd frame that needs more is too
// large. Compressed bytes are limited as well, so a body that decompresses to nothing ends.
func LimitedBody(resp *http.Response, limit int64) io.ReadCloser {
	return limitBody(resp.Body, resp.Header.Values("Content-Encoding"), limit)
}

func limitBody(body io.ReadCloser, encodings []string, limit int64) io.ReadCloser {
	var src io.Reader = body
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(encodings, ",")))
	if encoding != "" && encoding != "identity" {
		// Incompressible data grows a little, and decoders read whole blocks of up to
		// 128 KiB.
		const overhead = 256 << 10
		wire := limit + min(limit/64+overhead, math.MaxInt64-limit)
		src = &decodingReader{encoding: encoding, src: &cappedReader{src: src, left: wire, limit: limit}, limit: limit}
	}
	return &limitedBody{cappedReader: cappedReader{src: src, left: limit, limit: limit}, Closer: body}
}

type limitedBody struct {
	cappedReader
	io.Closer
}

// cappedReader returns an error at its limit, where [io.LimitedReader] returns io.EOF.
type cappedReader struct {
	src   io.Reader
	left  int64
	limit int64 // for the error
}

func (r *cappedReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.left <= 0 {
		var probe [1]byte
		if _, err := io.ReadFull(r.src, probe[:]); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.limit)
	}
	n, err := r.src.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}
