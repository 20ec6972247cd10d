package feedmill

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"0s", 0},
		{"500ms", 500 * time.Millisecond},
		{"30s", 30 * time.Second},
		{"15m", 15 * time.Minute},
		{"24h", day},
		{"7d", 7 * day},
		{"1h30m", 90 * time.Minute},
		{"1d2h3m4s5ms", day + 2*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond},
		{"106751d", 106751 * day},
		{"007s", 7 * time.Second},
	} {
		got, err := ParseDuration(c.text)
		if err != nil || got != c.want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "s", "5", "5 s", " 5s", "5s ", "-5s", "+5s", "1.5s", "5S", "5sec", "5w", "5us", "30m1h", "1s1s", "1h 30m", "1h30",
		"106752d", "106751d24h", "9223372036854775808ms", "99999999999999999999s", "٣s", "1e3s",
	} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want a refusal", text, d)
		}
	}
}

func TestDurationBetween(t *testing.T) {
	read := DurationBetween(time.Second, 2*time.Minute)
	for text, want := range map[string]time.Duration{"1s": time.Second, "90s": 90 * time.Second, "2m": 2 * time.Minute} {
		if got, err := read(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"999ms": "This must be from 1s to 2m.", "121s": "This must be from 1s to 2m.", "soon": "This is no duration: " + errDuration.Error() + ".",
	} {
		if got, err := read(text); err == nil || err.Error() != want || !errors.Is(err, ErrInvalid) || got != 0 {
			t.Errorf("%s is %v, %v, want %q", text, got, err, want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Microsecond: "0s", -time.Second: "0s",
		1500 * time.Millisecond: "1500ms", 1500*time.Millisecond + 1: "1500ms",
		30 * time.Second: "30s", 90 * time.Second: "90s", 15 * time.Minute: "15m", 24 * time.Hour: "24h",
		time.Millisecond: "1ms", time.Second: "1s", time.Minute: "1m", time.Hour: "1h",
		36 * time.Hour: "36h", 48 * time.Hour: "2d", 7 * 24 * time.Hour: "7d",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestDurationsSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, 1<<62/int64(time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		text := FormatDuration(d)
		if again, err := ParseDuration(text); err != nil || again != d {
			t.Fatalf("%v is written %q and read as %v, %v", d, text, again, err)
		}
	})
}
