package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, k Kind, want Amount) ([]byte, Amount) {
	t.Helper()
	path := filepath.Join(t.TempDir(), k.Name)
	made, err := k.Write(path, want)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(text)) != made.Bytes {
		t.Errorf("%s: %d bytes, said to be %d", k.Name, len(text), made.Bytes)
	}
	return text, made
}

func TestCSV(t *testing.T) {
	for _, k := range []Kind{Mixed, Wide, Numeric} {
		text, made := write(t, k, Amount{Bytes: 100_000})
		records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		if rows := int64(len(records) - 1); rows != made.Rows || made.Bytes < 100_000 {
			t.Errorf("%s: %d rows in %d bytes, said to be %d", k.Name, rows, made.Bytes, made.Rows)
		}
		if again, _ := write(t, k, Amount{Bytes: 100_000}); !bytes.Equal(text, again) {
			t.Errorf("%s: other bytes the second time", k.Name)
		}
	}
}

func TestMixedHasTraps(t *testing.T) {
	text, _ := write(t, Mixed, Amount{Rows: 1000})
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var zeros, breaks, quotes, nulls bool
	for _, r := range records[1:] {
		zeros = zeros || strings.HasPrefix(r[2], "0")
		breaks = breaks || strings.Contains(r[9], "\n")
		quotes = quotes || strings.Contains(r[9], `"`)
		nulls = nulls || r[10] == ""
		if len(r[2]) != 5 {
			t.Fatalf("zip %q", r[2])
		}
	}
	if !zeros || !breaks || !quotes || !nulls {
		t.Errorf("leading zeros %t, line breaks %t, quotes %t, nulls %t", zeros, breaks, quotes, nulls)
	}
}

func TestObjects(t *testing.T) {
	text, made := write(t, Objects, Amount{Rows: 1000})
	rows := int64(0)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); rows++ {
		var row map[string]any
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil || len(row) != 12 {
			t.Fatalf("%s: %d members, %v", lines.Bytes(), len(row), err)
		}
	}
	if rows != 1000 || made.Rows != 1000 {
		t.Errorf("%d rows, said to be %d", rows, made.Rows)
	}
}

func TestDocument(t *testing.T) {
	text, made := write(t, Document, Amount{Rows: 1000})
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1000 || made.Rows != 1000 || len(rows[999]) != 12 {
		t.Errorf("%d rows, said to be %d", len(rows), made.Rows)
	}
}
