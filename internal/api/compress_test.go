package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// Writers are used again only after they were closed, also by a caller that closes twice.
func TestCompressReusesWriters(t *testing.T) {
	texts := []string{strings.Repeat("one ", 1000), strings.Repeat("two ", 2000), "three"}
	for range 3 {
		var outs [3]bytes.Buffer
		for i, text := range texts {
			z := compress(&outs[i], "gzip")
			other := compress(io.Discard, "gzip")
			for _, step := range []func() error{
				func() error { _, err := io.WriteString(z, text[:len(text)/2]); return err },
				func() error { _, err := io.WriteString(other, "of another client"); return err },
				other.Close, other.Close,
				func() error { _, err := io.WriteString(compress(io.Discard, "gzip"), "not closed"); return err },
				func() error { _, err := io.WriteString(z, text[len(text)/2:]); return err },
				z.Close,
			} {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range outs {
			r, err := gzip.NewReader(&outs[i])
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != texts[i] {
				t.Errorf("text %d: %.40q, %v", i, got, err)
			}
		}
	}
}
