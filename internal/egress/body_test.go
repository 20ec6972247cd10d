package egress

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestLimitedBody(t *testing.T) {
	noise := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, content := range map[string][]byte{
		"empty": nil, "short": []byte("hello"), "zeros": make([]byte, 1<<20), "noise": noise,
	} {
		for encoding, encoded := range map[string][]byte{
			"": content, "identity": content, "gzip": gzipped(t, content), "X-Gzip": gzipped(t, content), " zstd ": zstandard(t, content),
		} {
			for _, limit := range []int{0, 1, len(content) - 1, len(content), len(content) + 1, math.MaxInt64} {
				if limit < 0 {
					continue
				}
				body := LimitedBody(answer(encoding, bytes.NewReader(encoded)), int64(limit))
				got, err := io.ReadAll(body)
				var want error
				if limit < len(content) {
					want = ErrTooLarge
				}
				if !errors.Is(err, want) {
					t.Errorf("%s as %q, limit %d: err = %v, want %v", name, encoding, limit, err, want)
				}
				if keep := content[:min(limit, len(content))]; !bytes.Equal(got, keep) {
					t.Errorf("%s as %q, limit %d: got %d bytes, want the first %d", name, encoding, limit, len(got), len(keep))
				}
			}
		}
	}
}

func TestLimitedBodyReportsWhatItCannotRead(t *testing.T) {
	broken := errors.New("connection reset")
	for name, tt := range map[string]struct {
		encoding string
		body     io.Reader
		want     error
	}{
		"br":                {"br", strings.NewReader("x"), ErrEncoding},
		"two encodings":     {"gzip, zstd", strings.NewReader("x"), ErrEncoding},
		"not gzip":          {"gzip", strings.NewReader("hello, this is no gzip"), gzip.ErrHeader},
		"not zstd":          {"zstd", strings.NewReader("hello, this is no zstd"), zstd.ErrMagicMismatch},
		"cut gzip":          {"gzip", bytes.NewReader(gzipped(t, []byte("hello"))[:15]), io.ErrUnexpectedEOF},
		"cut zstd":          {"zstd", bytes.NewReader(zstandard(t, []byte("hello"))[:8]), io.ErrUnexpectedEOF},
		"transport, plain":  {"", iotest.ErrReader(broken), broken},
		"transport, gzip":   {"gzip", iotest.ErrReader(broken), broken},
		"transport, zstd":   {"zstd", iotest.ErrReader(broken), broken},
		"gzip of nothing":   {"gzip", endless(gzipped(t, nil)), ErrTooLarge},
		"zstd of nothing":   {"zstd", endless([]byte{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4}), ErrTooLarge},
		"zstd, huge window": {"zstd", bytes.NewReader(windowClaim(20)), ErrTooLarge},
		"zstd, huge size":   {"zstd", bytes.NewReader(sizeClaim), ErrTooLarge},
	} {
		body := LimitedBody(answer(tt.encoding, tt.body), 1<<10)
		_, err := io.ReadAll(body)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: err = %v, want %v", name, err, tt.want)
		}
		if _, again := body.Read(make([]byte, 1)); again == nil || again == io.EOF {
			t.Errorf("%s: reading on after the error = %v", name, again)
		}
	}
}

func TestBombsDoNotAllocate(t *testing.T) {
	zeros := make([]byte, 64<<20)
	for name, tt := range map[string]struct {
		encoding string
		body     []byte
	}{
		"gzip":         {"gzip", gzipped(t, zeros)},
		"zstd":         {"zstd", zstandard(t, zeros)},
		"zstd, window": {"zstd", windowClaim(20)},
		"zstd, size":   {"zstd", sizeClaim},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := io.Copy(io.Discard, LimitedBody(answer(tt.encoding, bytes.NewReader(tt.body)), 64<<10))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: err = %v, want too large", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s: %d bytes allocated to read 64 KiB", name, n)
		}
	}
}

// Zstandard's own default window is granted however little is to be read, and
// that of the web where there is room for it.
func TestZstdWindows(t *testing.T) {
	for _, tt := range []struct {
		exponent byte // of a window of 1 KiB << exponent
		limit    int64
		want     error
	}{
		{11, 16, nil},
		{12, 16, ErrTooLarge},
		{13, 8 << 20, nil},
		{14, math.MaxInt64, ErrTooLarge},
	} {
		got, err := io.ReadAll(LimitedBody(answer("zstd", bytes.NewReader(windowClaim(tt.exponent))), tt.limit))
		if !errors.Is(err, tt.want) || err == nil && string(got) != "hi" {
			t.Errorf("window of 1 KiB << %d, limit %d: %q, %v, want %v", tt.exponent, tt.limit, got, err, tt.want)
		}
	}
}

func TestLimitedBodyClosesTheAnswer(t *testing.T) {
	for _, encoding := range []string{"", "gzip", "zstd"} {
		resp := answer(encoding, strings.NewReader(""))
		closed := closeFlag{Reader: resp.Body}
		resp.Body = &closed
		if err := LimitedBody(resp, 1).Close(); err != nil || !closed.closed {
			t.Errorf("%q: Close = %v, closed: %v", encoding, err, closed.closed)
		}
	}
}

// windowClaim is a zstd frame of two bytes that asks for a window.
func windowClaim(exponent byte) []byte {
	return []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, exponent << 3, 0x11, 0x00, 0x00, 'h', 'i'}
}

// sizeClaim is the beginning of a zstd frame that announces 1 TiB in one segment.
var sizeClaim = []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 0x11, 0x00, 0x00, 'h', 'i'}

func answer(encoding string, body io.Reader) *http.Response {
	resp := &http.Response{Header: http.Header{}, Body: io.NopCloser(body)}
	if encoding != "" {
		resp.Header.Set("Content-Encoding", encoding)
	}
	return resp
}

func gzipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// endless repeats the bytes without an end.
func endless(b []byte) io.Reader { return &repeater{b: b} }

type repeater struct {
	b []byte
	i int
}

func (r *repeater) Read(p []byte) (int, error) {
	n := copy(p, r.b[r.i:])
	r.i = (r.i + n) % len(r.b)
	return n, nil
}

type closeFlag struct {
	io.Reader
	closed bool
}

func (c *closeFlag) Close() error {
	c.closed = true
	return nil
}
