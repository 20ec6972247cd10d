package postgres

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHeaderIsReadAsItWasWritten(t *testing.T) {
	text := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
	field := rapid.Custom(func(t *rapid.T) [2]string { return [2]string{text.Draw(t, "name"), text.Draw(t, "value")} })
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.SliceOf(field).Draw(t, "header")
		if got := decodeHeader(encodeHeader(header)); !slices.Equal(got, header) {
			t.Fatalf("read %q", got)
		}
	})
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(encodeHeader([][2]string{{"Content-Type", "text/plain"}, {"X", ""}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		header := decodeHeader(b)
		if again := decodeHeader(encodeHeader(header)); !slices.Equal(again, header) {
			t.Errorf("%q was written and %q read", header, again)
		}
	})
}
