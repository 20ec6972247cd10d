package decode

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/feedmill/feedmill"
)

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t testing.TB, data []byte, options ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func TestDecompress(t *testing.T) {
	data := []byte(strings.Repeat("a,b\n1,2\n", 1000))
	for _, test := range []struct {
		coding string
		in     []byte
	}{
		{"", data},
		{"identity", data},
		{"gzip", gzipped(t, data)},
		{" GZIP ", gzipped(t, data)},
		{"gzip", append(gzipped(t, data[:3000]), gzipped(t, data[3000:])...)},
		{"zstd", zstandard(t, data)},
		{"identity, gzip, identity", gzipped(t, data)},
	} {
		r, err := Decompress(bytes.NewReader(test.in), test.coding, int64(len(data)))
		if err != nil {
			t.Errorf("%q: %v", test.coding, err)
			continue
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q: %d bytes, %v", test.coding, len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%q: close: %v", test.coding, err)
		}
	}
}

func TestDecompressRefuses(t *testing.T) {
	data := []byte(strings.Repeat("a,b\n1,2\n", 1000))
	lost := errors.New("connection lost")
	for _, test := range []struct {
		name, coding string
		in           io.Reader
		want         error
		detail       string
	}{
		{"a byte too many", "", bytes.NewReader(append(data, 'x')), feedmill.ErrTooLarge, "longer than 8000 bytes"},
		{"a bomb", "gzip", bytes.NewReader(gzipped(t, make([]byte, 5<<20))), feedmill.ErrTooLarge, "longer than 8000 bytes"},
		{"a bomb in a bomb", "gzip, gzip", bytes.NewReader(gzipped(t, gzipped(t, make([]byte, 5<<20)))), feedmill.ErrUnsupported, "compress the data only once"},
		{"no gzip", "gzip", bytes.NewReader(data), feedmill.ErrUnprocessable, "damaged"},
		{"cut gzip", "gzip", bytes.NewReader(gzipped(t, data)[:40]), feedmill.ErrUnprocessable, "after 40 bytes"},
		{"empty gzip", "gzip", bytes.NewReader(nil), feedmill.ErrUnprocessable, "after 0 bytes"},
		{"no zstd", "zstd", bytes.NewReader(data), feedmill.ErrUnprocessable, "damaged"},
		{"cut zstd", "zstd", bytes.NewReader(zstandard(t, data)[:20]), feedmill.ErrUnprocessable, "after 20 bytes"},
		{"wide zstd", "zstd", bytes.NewReader(zstandard(t, make([]byte, 10<<20), zstd.WithWindowSize(16<<20), zstd.WithSingleSegment(false))), feedmill.ErrUnprocessable, "window"},
		{"unknown", "br", bytes.NewReader(data), feedmill.ErrUnsupported, "br"},
		{"too many", "gzip,gzip,gzip,gzip", bytes.NewReader(data), feedmill.ErrUnsupported, ""},
		{"lost source", "gzip", io.MultiReader(bytes.NewReader(gzipped(t, data)[:40]), iotest.ErrReader(lost)), lost, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := Decompress(test.in, test.coding, int64(len(data)))
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				_ = r.Close()
			}
			if err == nil || (test.want != nil && !errors.Is(err, test.want)) || !strings.Contains(err.Error(), test.detail) {
				t.Errorf("got %v", err)
			}
		})
	}
}
