package cron

import (
	"strings"
	"testing"
	"time"
)

func TestCronFields(t *testing.T) {
	set := func(values ...int) (s uint64) {
		for _, v := range values {
			s |= 1 << v
		}
		return s
	}
	for _, test := range []struct {
		text string
		want Expression
	}{
		{"0,30 6 1 1 *", Expression{set(0, 30), set(6), set(1), set(1), set(0, 1, 2, 3, 4, 5, 6), false, false}},
		{"5-8 */6 1-10/3 JAN-mar,dec 7", Expression{set(5, 6, 7, 8), set(0, 6, 12, 18), set(1, 4, 7, 10), set(1, 2, 3, 12), set(0), true, true}},
		{"50/4 22/1 31 7 fri-sun", Expression{set(50, 54, 58), set(22, 23), set(31), set(7), set(0, 5, 6), false, true}},
		{"0 0 */10 2 sun-tue", Expression{set(0), set(0), set(1, 11, 21, 31), set(2), set(0, 1, 2), false, false}},
		{"0 0 1 1 5-7", Expression{set(0), set(0), set(1), set(1), set(0, 5, 6), false, true}},
		{"0 0 1 1 */2", Expression{set(0), set(0), set(1), set(1), set(0, 2, 4, 6), false, false}},
		{"0 0 29 2 0/3", Expression{set(0), set(0), set(29), set(2), set(0, 3, 6), false, true}},
	} {
		got, err := Parse(test.text)
		if err != nil || *got != test.want {
			t.Errorf("%q is read as %+v, %v, want %+v", test.text, got, err, test.want)
		}
	}
}

func TestCronRefused(t *testing.T) {
	for _, text := range []string{
		"", "* * * *", "* * * * * *", "@daily", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 * ", "* * * 0 *",
		"* * * * 8", "-1 * * * *", "+1 * * * *", "1- * * * *", "5-1 * * * *", "*/0 * * * *", "*/60 * * * *", "*/x * * * *", "*/ * * * *",
		"1,,2 * * * *", ", * * * *", "** * * * *", "* * * * *-5", "* * L * *", "* * ? * *", "* * * foo *", "* * mon * *", "sun * * * *",
		"0 0 31 2,4,6,9,11 *", "0 0 30-31 2 */2", "٣ * * * *", "99999999999999999999 * * * *", strings.Repeat("1,", 100) + "1 * * * *",
	} {
		if c, err := Parse(text); err == nil {
			t.Errorf("%q is read as %+v, want a refusal", text, c)
		}
	}
}

func FuzzCron(f *testing.F) {
	for _, text := range []string{"0 6 * * 1-5", "*/15 0-6/2 29 feb *", "0 0 31 * sat-sun", "5/7 * */3 JAN,7 7"} {
		f.Add(text)
	}
	from := time.Date(2026, 2, 28, 23, 59, 30, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		at := c.nextLocal(from)
		if at.Before(from) || at.Second() != 0 || !c.allows(at) {
			t.Errorf("%q after %v: %v", text, from, at)
		}
	})
}

// allows reports whether the expression allows a local time.
func (c *Expression) allows(local time.Time) bool {
	return c.minutes>>local.Minute()&1 == 1 && c.hours>>local.Hour()&1 == 1 && c.months>>local.Month()&1 == 1 && c.matchesDay(local)
}
