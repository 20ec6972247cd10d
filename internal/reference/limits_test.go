package reference

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"
)

// limits is the page, with the names of constants in place of their values: "MaxNameLen" of
// the root package, "internal/api.maxLimit", or "internal/source/rest/...maxPages" of one of
// the packages below a folder.
//
//go:embed limits.md.tmpl
var limits string

// notLimits are constants named Max that do not limit what a client can do.
var notLimits = map[string]string{
	"MaxMadeAtOnce":         "deliveries that are created with the event; the others follow",
	"MaxKeptAtOnce":         "a step of that",
	"MaxExpressionTime":     "written as 5 ms",
	"MaxFilterTime":         "written as 5 ms",
	"MaxFilterStep":         "filters that are evaluated later wait for the next step",
	"MaxCountedBacklog":     "counts above it are reported as such",
	"MaxListedBacklog":      "a step of that",
	"MaxCountedTroubles":    "the number on a page",
	"MaxCountedSubscribers": "counts end there",
	"MaxCandidates":         "alternatives that a preview lists",
	"MaxCandidateFields":    "fields of each of these",
}

func TestReferenceOfLimits(t *testing.T) {
	t.Parallel()
	known := make(map[string]map[string]int64)
	used := make(map[string]bool)
	value := func(name string) int64 {
		used[name] = true
		folder, constant := ".", name
		if i := strings.LastIndex(name, "."); i >= 0 {
			folder, constant = strings.TrimSuffix(name[:i+1], "."), name[i+1:]
		}
		if tree, ok := strings.CutSuffix(folder, "/.."); ok {
			return inTree(t, known, tree, constant)
		}
		if known[folder] == nil {
			known[folder] = constants(t, folder)
		}
		found, ok := known[folder][constant]
		if !ok {
			t.Fatalf("limits.md.tmpl names the constant %s, which does not exist", name)
		}
		return found
	}
	page, err := template.New("limits").Funcs(template.FuncMap{
		"bytes": func(name string) string { return byteText(value(name)) },
		"count": func(name string) string { return countText(value(name)) },
		"time":  func(name string) string { return timeText(time.Duration(value(name))) },
	}).Parse(limits)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := page.Execute(&b, nil); err != nil {
		t.Fatal(err)
	}
	for name := range constants(t, ".") {
		if strings.HasPrefix(name, "Max") && used[name] == (notLimits[name] != "") {
			t.Errorf("%s must be either in limits.md.tmpl or in notLimits", name)
		}
	}
	Check(t, "../..", "limits.md", b.String())
}

// inTree returns the constant of a name, exported or not, in the packages below a folder.
// Packages that have the same name must agree.
func inTree(t *testing.T, known map[string]map[string]int64, tree, name string) int64 {
	t.Helper()
	var values []int64
	err := filepath.WalkDir(filepath.Join("../..", tree), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		folder, err := filepath.Rel("../..", path)
		if err != nil {
			return err
		}
		if known[folder] == nil {
			known[folder] = constants(t, folder)
		}
		for other, value := range known[folder] {
			if strings.EqualFold(other, name) {
				values = append(values, value)
			}
		}
		return nil
	})
	if err != nil || len(values) == 0 {
		t.Fatalf("limits.md.tmpl names the constant %s below %s, which does not exist: %v", name, tree, err)
	}
	for _, value := range values {
		if value != values[0] {
			t.Fatalf("%s has several values below %s: %v", name, tree, values)
		}
	}
	return values[0]
}

func byteText(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
			return fmt.Sprintf("%s %s", countText(n/size), unit)
		}
	}
	return countText(n) + " bytes"
}

// countText writes a number with commas between its thousands.
func countText(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func timeText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > day && d%day == 0:
		return countText(int64(d/day)) + " days"
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d > time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
