package feed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// receiving opens an empty folder for data, with a place for so many uploads
// whose types are inferred while they arrive.
func receiving(t *testing.T, early int) *Mill {
	t.Helper()
	return &Mill{Parts: Parts{Blobs: openFiles(t, noSums{}, noObjects{}), Temp: t.TempDir()}, early: share.NewSlots(early, early, 0)}
}

// manyLines has at least so many bytes of numbered lines.
func manyLines(format string, size int) string {
	var out bytes.Buffer
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// TestInferredEarly holds that data whose types are inferred while it arrives is taken
// for what it is when it is there.
func TestInferredEarly(t *testing.T) {
	for _, c := range []struct {
		name, format, data string
		early              bool
	}{
		{"csv", "csv", "a,b,c\n" + manyLines("%d,2026-01-01,\"x\ny\"\n", 5<<20) + "1,,z\n", true},
		{"tsv", "tsv", "a\tb\n" + manyLines("%d\t1.5\n", 5<<20) + "1\tx\n", true},
		{"ndjson", "ndjson", manyLines("{\"a\":%d,\"b\":\"x\"}\n", 5<<20) + `{"a":1.5,"c":true}`, true},
		{"json", "json", "[" + manyLines("{\"a\":%d},\n", 5<<20) + `{"a":null}]`, false},
		{"windows-1252", "csv", "a,b\n" + manyLines("%d,1\n", 5<<20) + "1,M\xfcller\n", false},
		{"small", "csv", "a,b\n1,2\n", false},
		{"a zero byte", "csv", "a,b\n" + manyLines("%d,1\n", 5<<20) + "1,\x00\n", false},
		{"broken ndjson", "ndjson", manyLines("{\"a\":%d}\n", 5<<20) + `{"a":`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var found [2]*inferred
			var faults [2]string
			for places := range found {
				f := receiving(t, places)
				u := feedmill.Upload{Reading: feedmill.Reading{Format: c.format}, Body: iotest.HalfReader(strings.NewReader(c.data))}
				a, err := f.receive(t.Context(), "a", u, true)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				a.inferring.Wait()
				if early := a.early != nil; early != (c.early && places > 0) {
					t.Errorf("with %d places, inferred early is %t", places, early)
				}
				if found[places], err = f.infer(t.Context(), a); err != nil {
					faults[places] = err.Error()
					continue
				}
				defer found[places].Close()
			}
			if faults[0] != faults[1] || (faults[0] == "") != (found[0] != nil) {
				t.Fatalf("faults %q", faults)
			}
			if found[0] == nil {
				return
			}
			if !reflect.DeepEqual(found[0].schema, found[1].schema) || !reflect.DeepEqual(found[0].warnings, found[1].warnings) {
				t.Errorf("%+v %v, early %+v %v", found[0].schema, found[0].warnings, found[1].schema, found[1].warnings)
			}
		})
	}
}

// TestReceiveThatFails holds that nothing is left of data that does not come in full.
func TestReceiveThatFails(t *testing.T) {
	f := receiving(t, 1)
	half := strings.NewReader("a,b\n" + manyLines("%d,1\n", 5<<20))
	for name, body := range map[string]io.Reader{
		"at once":     iotest.ErrReader(io.ErrUnexpectedEOF),
		"in the end":  io.MultiReader(half, iotest.ErrReader(io.ErrUnexpectedEOF)),
		"a long wait": iotest.TimeoutReader(strings.NewReader(manyLines("%d,1\n", 1<<20))),
	} {
		if _, err := f.receive(t.Context(), "a", feedmill.Upload{Reading: feedmill.Reading{Format: "csv"}, Body: body}, true); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := f.Blobs.Sweep(t.Context(), now().AddDate(1, 0, 0)); n != 0 || err != nil {
		t.Errorf("%d temporary files were left, %v", n, err)
	}
	if err := f.Blobs.Put(t.Context(), "a", func(io.Writer) error { return nil }); err != nil {
		t.Error(err)
	}
	a, err := f.receive(t.Context(), "a", feedmill.Upload{Body: strings.NewReader("x")}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Keep(t.Context()); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("kept under a name that is taken: %v", err)
	}
}
