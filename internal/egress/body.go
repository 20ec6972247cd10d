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
	// ErrTooLarge is matched by the error of reading past the limit of a body.
	ErrTooLarge = errors.New("the answer is too large")
	// ErrEncoding is matched by the error of reading a body whose
	// Content-Encoding is none of gzip, zstd and identity.
	ErrEncoding = errors.New("unsupported content encoding")
)

// LimitedBody reads the body of an answer, decompressed if the transport has
// not done so (gzip and zstd), up to limit bytes. A longer body gives its first
// limit bytes and then an error that matches [ErrTooLarge]. Closing it closes
// the body of the answer.
//
// Memory does not follow what the body claims about itself. It is that of the
// decoder's window: 32 KiB for gzip; for zstd as much as the limit, within 2
// and 8 MiB, and a frame that asks for more is too large. Compressed bytes are
// counted as well, so that a body that decompresses to nothing has an end.
func LimitedBody(resp *http.Response, limit int64) io.ReadCloser {
	return limitBody(resp.Body, resp.Header.Values("Content-Encoding"), limit)
}

func limitBody(body io.ReadCloser, encodings []string, limit int64) io.ReadCloser {
	var src io.Reader = body
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(encodings, ",")))
	if encoding != "" && encoding != "identity" {
		// What cannot be compressed grows a little by the attempt, and a
		// decoder reads whole blocks, of up to 128 KiB.
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

// cappedReader fails where [io.LimitedReader] would report the end.
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
