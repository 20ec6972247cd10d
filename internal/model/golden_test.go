package model

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

var update = flag.Bool("update", false, "write the golden files anew")

func dateText(day int64) string { return time.Unix(day*24*3600, 0).UTC().Format(time.DateOnly) }

func timeText(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.999999Z")
}

// golden is what data is modelled as, as its file has it.
type golden struct {
	Columns  []string           `json:"columns"`
	Rows     []json.RawMessage  `json:"rows"`
	Warnings []feedmill.Warning `json:"warnings,omitempty"`
}

// modelled infers and converts cells.
func modelled(t testing.TB, names []string, cells *columnar.Cells, options Options) golden {
	t.Helper()
	inference := New(options)
	for _, run := range split(cells, 3) {
		inference.Block(run)
	}
	schema, warnings := inference.Decide(names, feedmill.Findings{})
	out := golden{Columns: []string{}, Rows: []json.RawMessage{}, Warnings: warnings}
	for _, c := range schema.Columns {
		text := c.Name + " " + typeName(c)
		if c.Format != "" {
			text += " " + c.Format
		}
		if c.Nullable {
			text += " nullable"
		}
		out.Columns = append(out.Columns, text)
	}
	vectors := make([]columnar.Vector, len(schema.Columns))
	if err := schema.Convert(cells, vectors); err != nil {
		t.Fatal(err)
	}
	for i := range vectors {
		if err := vectors[i].Check(); err != nil {
			t.Fatal(err)
		}
		if vectors[i].Nulls() > 0 && !schema.Columns[i].Nullable {
			t.Errorf("the column %s has nulls", schema.Columns[i].Name)
		}
	}
	for row := range cells.Rows {
		var values []any
		for i := range vectors {
			values = append(values, valueOf(&vectors[i], row))
		}
		out.Rows = append(out.Rows, encode(t, values))
	}
	return out
}

// Each file below testdata is a trap of the modelling rules: a small table, or
// lines of JSON arrays, and beside it the columns, rows and warnings that
// must come of it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name, format, _ := strings.Cut(filepath.Base(file), ".")
		read := tableCells
		switch format {
		case "want.json":
			continue
		case "ndjson":
			read = jsonCells
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			names, cells := read(t, string(data))
			got := modelled(t, names, cells, goldenOptions(t, name))
			compareGolden(t, filepath.Join(filepath.Dir(file), name+".want.json"), got)
		})
	}
}

// goldenOptions are those that the name of a file asks for.
func goldenOptions(t *testing.T, name string) (o Options) {
	t.Helper()
	switch name {
	case "option-text":
		o.Text = true
	case "option-nulls":
		o.Set.Nulls = "N/A,-"
	case "option-timezone":
		zone, err := time.LoadLocation("Europe/Paris")
		if err != nil {
			t.Fatal(err)
		}
		o.Location = zone
	}
	return o
}

func compareGolden(t *testing.T, file string, got golden) {
	t.Helper()
	text := formatGolden(t, got)
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// formatGolden writes one line for each column, row and warning.
func formatGolden(t *testing.T, g golden) []byte {
	t.Helper()
	var out bytes.Buffer
	list := func(name string, n int, item func(i int) any, last bool) {
		fmt.Fprintf(&out, "  %q: [", name)
		for i := range n {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n    ")
			out.Write(encode(t, item(i)))
		}
		out.WriteString("\n  ]")
		if !last {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("{\n")
	list("columns", len(g.Columns), func(i int) any { return g.Columns[i] }, false)
	list("rows", len(g.Rows), func(i int) any { return g.Rows[i] }, false)
	list("warnings", len(g.Warnings), func(i int) any { return g.Warnings[i] }, true)
	out.WriteString("}\n")
	return out.Bytes()
}

// encode writes a value as one line of JSON.
func encode(t testing.TB, value any) []byte {
	t.Helper()
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(line.Bytes())
}
