package decode

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// document makes documents as APIs have them.
type document struct{ *rand.Rand }

func (d document) scalar() string {
	return []string{"1", "2.5", `"a"`, `"b c"`, "true", "null", `"2026-01-31"`, "-7", `""`}[d.IntN(9)]
}

func (d document) name() string {
	return []string{"id", "a", "b", "data", "items", "errors", "links", "rows", "columns", "it's", "a.b", "ü", "2026-01-01", "0", "1", "x y", "hourly", `\"q`, ""}[d.IntN(19)]
}

// object is an object of so many members, each with a name of its own.
func (d document) object(n int, value func() string) string {
	var members []string
	used := map[string]bool{}
	for range n {
		name := d.name()
		if used[name] {
			continue
		}
		used[name] = true
		members = append(members, `"`+name+`":`+value())
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (d document) list(n int, value func() string) string {
	values := make([]string, n)
	for i := range values {
		values[i] = value()
	}
	return "[" + strings.Join(values, ",") + "]"
}

// record is an object that has the same names each time.
func (d document) record() func() string {
	names := []string{"id", "name", "n", "at"}[:1+d.IntN(4)]
	return func() string {
		var members []string
		for _, name := range names {
			if d.IntN(10) > 0 {
				members = append(members, `"`+name+`":`+d.scalar())
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

// value is anything: a list of records, of lists or of values, columns, a keyed object, an
// object or a scalar.
func (d document) value(depth int) string {
	n := d.IntN(5)
	if d.IntN(8) == 0 {
		n = 10 + d.IntN(4)
	}
	switch kind := d.IntN(10); {
	case depth > 3 || kind == 0:
		return d.scalar()
	case kind < 3:
		return d.list(n, d.record())
	case kind == 3:
		width := 1 + d.IntN(3)
		return d.list(n, func() string { return d.list(width, d.scalar) })
	case kind == 4:
		return d.object(1+d.IntN(4), func() string { return d.list(n, d.scalar) })
	case kind == 5:
		return d.object(1+d.IntN(4), d.record())
	case kind == 6:
		return d.list(n, func() string { return d.value(depth + 2) })
	default:
		return d.object(d.IntN(5), func() string { return d.value(depth + 1) })
	}
}

// read is what a reading of a document gives.
type read struct {
	path  feedmill.Finding
	table string
	// others are the paths that the warning other-records names.
	others []string
}

func newRead(t *testing.T, table interface {
	decodetest.Table
	Found() feedmill.Findings
	Warnings() ([]feedmill.Warning, error)
},
) read {
	out := read{table: fmt.Sprint(decodetest.Rows(t, table), table.Names()), path: table.Found().Path}
	warnings, err := table.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if _, paths, ok := strings.Cut(w.Detail, "also has records at "); w.Code == feedmill.WarnRecords && ok {
			out.others = strings.Split(strings.TrimSuffix(paths, "; set path to read them instead."), ", ")
		}
	}
	return out
}

func readDocument(t *testing.T, temp, text, path string, pages, list bool) (read, error) {
	options := Options{Path: path, Rules: feedmill.RulesCurrent, Temp: temp, List: list}
	if pages {
		p := NewPages(options, func(*columnar.Cells) error { return nil })
		defer p.Close()
		if _, err := p.Add(t.Context(), "json", strings.NewReader(text)); err != nil {
			return read{}, err
		}
		return newRead(t, p), nil
	}
	table, err := Open(t.Context(), "json", strings.NewReader(text), options)
	if err != nil {
		return read{}, err
	}
	defer table.Close()
	return newRead(t, table), nil
}

// A path that was found means the same when a user sets it, and every other place that is
// shown is accepted, for uploads and for the pages of a fetch.
func TestFoundPathsAreAccepted(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	d := document{rand.New(rand.NewPCG(seed, 1))}
	found, temp := 0, t.TempDir()
	for range decodetest.LongOr(1_000, 100_000) {
		text := d.value(0)
		if d.IntN(3) > 0 {
			text = d.object(1+d.IntN(4), func() string { return d.value(1) })
		}
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		for _, way := range []struct{ pages, list bool }{{}, {true, false}, {true, true}} {
			auto, err := readDocument(t, temp, text, "", way.pages, way.list)
			if err != nil || auto.path.Value == "" {
				continue // which is not what this is about
			}
			found++
			set, err := readDocument(t, temp, text, auto.path.Value, way.pages, way.list)
			if err != nil || set.table != auto.table {
				t.Fatalf("%+v %s\nat %s: %v\nfound %s\nset   %s", way, text, auto.path.Value, err, auto.table, set.table)
			}
			for _, path := range auto.others {
				if other, err := readDocument(t, temp, text, path, way.pages, way.list); err != nil || other.path.Value != path {
					t.Fatalf("%+v %s\nat %s: %v, %+v", way, text, path, err, other)
				}
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}
