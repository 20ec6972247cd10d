package spec

import (
	"testing"
	"time"
)

func TestTimeFormats(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 23, 5, 6, 7e6, time.UTC)
	for _, test := range []struct {
		format string
		zone   *time.Location
		want   string
		ceil   string
	}{
		{"rfc3339", time.UTC, "2026-03-01T23:05:06.007Z", "2026-03-01T23:05:07Z"},
		{"date", paris, "2026-03-02", "2026-03-03"},
		{"unix", paris, "1772406306", "1772406307"},
		{"unixMs", time.UTC, "1772406306007", "1772406306007"},
		{"YYYY-MM-DDTHH:mm:ss.SSSZ", paris, "2026-03-02T00:05:06.007+01:00", "2026-03-02T00:05:06.007+01:00"},
		{"DD/MM/YYYY HH:mm", time.UTC, "01/03/2026 23:05", "01/03/2026 23:06"},
		{"YYYYMMDD", time.UTC, "20260301", "20260302"},
		{"yyyy-MM-dd", time.UTC, "", ""},
		{"--", time.UTC, "", ""},
	} {
		f, err := parseTimeFormat(test.format)
		if (err != nil) != (test.want == "") {
			t.Errorf("%s: %v", test.format, err)
			continue
		}
		if err != nil {
			continue
		}
		local := at.In(test.zone)
		if got, ceil := f.Write(local), f.Write(f.Ceil(local)); got != test.want || ceil != test.ceil {
			t.Errorf("%s: %s %s", test.format, got, ceil)
		}
	}
}
