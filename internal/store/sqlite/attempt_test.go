package sqlite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzUnpackHeader(f *testing.F) {
	f.Add(packHeader(nil))
	f.Add(packHeader([][2]string{{"Content-Type", "text/plain"}, {"X-Empty", ""}, {"", "caf\xe9"}}))
	f.Add([]byte{3, 'a'})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		header, err := unpackHeader(b)
		if err != nil {
			return
		}
		again, err := unpackHeader(packHeader(header))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(header, again); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}

func TestDamagedHeader(t *testing.T) {
	whole := packHeader([][2]string{{"Name", "value"}})
	for n := 1; n < len(whole); n++ {
		if _, err := unpackHeader(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken for a header", n, len(whole))
		}
	}
}
