package csv

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each file below testdata/golden is a trap: a text, and beside it what is
// found in it. A field without text is null, unless it is quoted.
func TestGoldenCSV(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(t, string(data))
			golden := strings.TrimSuffix(file, ".csv") + ".want.json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

// describe reads a text and writes what was found, a line for each record.
func describe(t *testing.T, data string) []byte {
	t.Helper()
	c, err := openCSV(t, data)
	if err != nil {
		return []byte(fmt.Sprintf("{\n  \"error\": %s\n}\n", encode(t, err.Error())))
	}
	rows := decodetest.Rows(t, c)
	warnings, err := c.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := c.Dialect
	fmt.Fprintf(&out, "{\n  \"encoding\": %q,\n  \"dialect\": %s,\n  \"names\": %s,\n  \"rows\": [", c.text.Encoding,
		encode(t, []string{string(d.Delimiter), string(d.Quote), string(d.Escape), string(d.Newline)}), encode(t, c.Names()))
	for i, row := range rows {
		values := make([]*string, len(row))
		for j := range row {
			switch row[j] {
			case "", "∅":
			case decodetest.QuotedEmpty:
				values[j] = new(string)
			default:
				values[j] = &row[j]
			}
		}
		fmt.Fprintf(&out, "%s\n    %s", comma(i), encode(t, values))
	}
	out.WriteString("\n  ],\n  \"warnings\": [")
	for i, w := range warnings {
		fmt.Fprintf(&out, "%s\n    %s", comma(i), encode(t, w))
	}
	out.WriteString("\n  ]\n}\n")
	return out.Bytes()
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(out.Bytes())
}
