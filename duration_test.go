package feedmill

import (
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

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Microsecond: "0s", -time.Second: "0s",
		1500 * time.Millisecond: "1500ms", 1500*time.Millisecond + 1: "1500ms",
		30 * time.Second: "30s", 90 * time.Second: "90s", 15 * time.Minute: "15m", 24 * time.Hour: "24h",
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
