package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
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

func TestAttemptIsUnpackedAsItWasPacked(t *testing.T) {
	text := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
	field := rapid.Custom(func(t *rapid.T) [2]string { return [2]string{text.Draw(t, "name"), text.Draw(t, "value")} })
	took := rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) })
	rapid.Check(t, func(t *rapid.T) {
		want := feedmill.Attempt{
			At: time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, "at")).UTC(), Status: rapid.Int().Draw(t, "status"),
			Error: rapid.StringMatching(`[^\x00]*`).Draw(t, "error"),
			Timing: feedmill.Timing{
				DNS: took.Draw(t, "dns"), Connect: took.Draw(t, "connect"), TLS: took.Draw(t, "tls"),
				FirstByte: took.Draw(t, "first byte"), Total: took.Draw(t, "total"),
			},
			Header: rapid.SliceOf(field).Draw(t, "header"),
		}
		if diff := cmp.Diff(want, unpackAttempt(packAttempt(nil, &want)), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzUnpackAttempt(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(packAttempt(nil, &feedmill.Attempt{At: time.Now(), Status: 500, Error: "no", Header: [][2]string{{"A", "b"}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := unpackAttempt(b)
		a.Error = asText(a.Error)
		if diff := cmp.Diff(a, unpackAttempt(packAttempt(nil, &a)), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
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
