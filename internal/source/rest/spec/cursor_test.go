package spec

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNewest(t *testing.T) {
	for _, test := range []struct {
		seen []string
		want string
	}{
		{nil, ""},
		{[]string{"", "a", ""}, "a"},
		{[]string{"9", "10", "-3", "9.5"}, "10"},
		{[]string{"12345678901234567890123", "12345678901234567890124"}, "12345678901234567890124"},
		{[]string{"2026-01-02", "2026-01-10", "2025-12-31"}, "2026-01-10"},
		{[]string{"2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z", "2026-01-01T11:59:59+01:00"}, "2026-01-01T11:00:00Z"},
		{[]string{"2026-01-01T12:00:00-05:00", "2026-01-01T12:00:00-06:00"}, "2026-01-01T12:00:00-06:00"},
		{[]string{"2026-01-01T12:00:00.5Z", "2026-01-01T12:00:00.45Z"}, "2026-01-01T12:00:00.5Z"},
		{[]string{"b", "a", "ab"}, "b"},
		{[]string{"/Date(999999999999+0000)/", "/Date(1439434356790+0000)/", "/Date(1439434356780)/"}, "/Date(1439434356790+0000)/"},
		{[]string{"/Date(-2000)/", "/Date(-1000)/"}, "/Date(-1000)/"},
		{[]string{"-2", "-1"}, "-1"},
	} {
		var c Cursor
		for _, s := range test.seen {
			c.See([]byte(s))
		}
		if got := c.Newest(); got != test.want {
			t.Errorf("%q: %s, want %s", test.seen, got, test.want)
		}
	}
}

// The newest of many does not depend on their order, and none is newer.
func TestNewestLaw(t *testing.T) {
	value := rapid.OneOf(
		rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{1,3})?`),
		rapid.StringMatching(`20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](Z|[+-]0[0-9]:30|\.[0-9]{1,6}Z)`),
		rapid.StringMatching(`[a-z]{1,5}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(value, 1, 20).Draw(t, "values")
		var forth, back Cursor
		for i := range values {
			forth.See([]byte(values[i]))
			back.See([]byte(values[len(values)-1-i]))
		}
		newest := ParseCursor(forth.Newest())
		if newest.compare(ParseCursor(back.Newest())) != 0 {
			t.Fatalf("%s and %s", forth.Newest(), back.Newest())
		}
		for _, v := range values {
			if ParseCursor(v).compare(newest) > 0 {
				t.Fatalf("%s is newer than %s", v, forth.Newest())
			}
		}
	})
}

func TestLookBack(t *testing.T) {
	for _, test := range []struct {
		text string
		back time.Duration
		want string
	}{
		{"2026-03-01T00:30:00Z", time.Hour, "2026-02-28T23:30:00Z"},
		{"2026-03-01T00:30:00.120Z", time.Hour, "2026-02-28T23:30:00.120Z"},
		{"2026-03-01T00:30:00.5+02:00", time.Hour, "2026-02-28T23:30:00.5+02:00"},
		{"2026-03-01T00:30:00+00:00", time.Hour, "2026-02-28T23:30:00+00:00"},
		{"2026-03-01 00:30:00", time.Hour, "2026-02-28 23:30:00"},
		{"2026-03-01T00:30:00", time.Hour, "2026-02-28T23:30:00"},
		{"2026-03-01", time.Hour, "2026-02-28"},
		{"2026-03-01", 48 * time.Hour, "2026-02-27"},
		{"1700000000", time.Hour, "1699996400"},
		{"1700000000.25", time.Hour, "1699996400.25"},
		{"1700000000000", time.Hour, "1699996400000"},
		{"1700000000", 1500 * time.Millisecond, "1699999998"},
		{"1700000000000000", time.Second, "1699999999000000"},
		{"42", time.Hour, "42"},
		{"/Date(1439434356790+0000)/", time.Second, "/Date(1439434355790+0000)/"},
		{"/Date(x)/", time.Second, "/Date(x)/"},
		{"abc", time.Hour, "abc"},
		{"2026-03-01", 0, "2026-03-01"},
	} {
		if got := lookBack(test.text, test.back); got != test.want {
			t.Errorf("%s before %s: %s, want %s", test.back, test.text, got, test.want)
		}
	}
}

// A look back never leads forward.
func TestLookBackLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0).UTC()
		text := at.Format(rapid.SampledFrom([]string{time.RFC3339, time.DateOnly, "2006-01-02 15:04:05", "2006-01-02T15:04:05.000Z07:00"}).Draw(t, "layout"))
		back := lookBack(text, time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "back")))
		if len(back) != len(text) || ParseCursor(back).compare(ParseCursor(text)) > 0 {
			t.Fatalf("%s leads to %s", text, back)
		}
	})
}

func BenchmarkCursor(b *testing.B) {
	var c Cursor
	values := [][]byte{[]byte("2026-03-01T00:30:00Z"), []byte("2026-02-01T00:30:00Z")}
	for i := 0; b.Loop(); i++ {
		c.See(values[i&1])
	}
}
