package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// Whatever the file, its events come out in order, each with the line that it
// stands on, in batches that the service takes.
func TestEventLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 20_000 // so that size ends batches too
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{-1, 0, 0, 0, 10, 3000, most - 14, most - 13}), 0, 12).Draw(t, "sizes")
		many := rapid.SampledFrom([]int{0, 999, 1000, 1001}).Draw(t, "many")
		sizes = append(sizes, slices.Repeat([]int{0}, many)...)
		var file bytes.Buffer
		var lines []int
		for i, n := range sizes {
			if n >= 0 { // else the line is empty
				lines = append(lines, i+1)
				file.WriteString(` {"data":"` + strings.Repeat("x", n) + `"}`)
			}
			file.WriteByte('\n')
		}
		in := newEventLines(&file)
		in.most = most
		var got []int
		for {
			b, err := in.next()
			if err != nil {
				t.Fatal(err)
			}
			if len(b.lines) == 0 {
				break
			}
			if document := b.document(); len(b.events) > feedmill.MaxPublishEvents || len(document) > most || !json.Valid(document) {
				t.Fatalf("a batch has %d events and %d bytes", len(b.events), len(document))
			}
			for i, line := range b.lines {
				if want := sizes[line-1] + len(`{"data":""}`); len(b.events[i]) != want {
					t.Fatalf("the event of line %d has %d bytes, want %d", line, len(b.events[i]), want)
				}
			}
			got = append(got, b.lines...)
		}
		if !slices.Equal(got, lines) {
			t.Fatalf("the events are of the lines %v, want %v", got, lines)
		}
	})
}

func FuzzEventLines(f *testing.F) {
	f.Add([]byte("{}\n\n{\"a\":1}\n"))
	f.Add([]byte("\ufeff{}\r\n{}"))
	f.Add([]byte("{}\n[]\n"))
	f.Add([]byte("{\"a\":\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		in := newEventLines(bytes.NewReader(file))
		for {
			b, err := in.next()
			if err != nil || len(b.lines) == 0 {
				return
			}
			var events []map[string]any
			// A number can be too large for Go, which is no matter here.
			err = json.Unmarshal(b.document(), &events)
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !ok {
				t.Fatalf("%v: %s", err, b.document())
			}
			if len(events) != len(b.lines) {
				t.Fatalf("%d lines make %d events: %s", len(b.lines), len(events), b.document())
			}
		}
	})
}

func TestLinesThatAreTooLong(t *testing.T) {
	in := newEventLines(strings.NewReader("{}\n\"" + strings.Repeat("x", feedmill.MaxPublishBytes) + "\"\n"))
	_, err := in.next()
	if err == nil || err.Error() != "line 2 is longer than the maximum size of a request" {
		t.Errorf("the error is %v", err)
	}
}

func TestFileErrors(t *testing.T) {
	b := batch{lines: []int{1001, 1003}}
	problem := &client.Problem{Title: "Wrong", Status: 400, Detail: "Mend it.", Errors: []client.Fault{
		{Pointer: "/1/data/0", Detail: "No."}, {Pointer: "/0", Detail: "No."}, {Pointer: "/7/x", Detail: "Odd."}, {Header: "Accept", Detail: "Odd."},
	}}
	got := (&fileError{err: problem, file: "f", batch: b, published: 1000}).Error()
	want := `f: Wrong (400): Mend it.
  line 1003 /data/0: No.
  line 1001:         No.
  /7/x:              Odd.
  Accept:            Odd.
The 1000 events before line 1001 were published; the rest was not.`
	if got != want {
		t.Errorf("the error is\n%s\nwant\n%s", got, want)
	}
}
