package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// publishFile publishes the events of a file with one on each line.
func publishFile(ctx context.Context, c *client.Client, name string, stdin io.Reader, p *printer) error {
	in, shown := stdin, "standard input"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in, shown = f, name
	}
	lines := newEventLines(in)
	all := struct {
		Accepted []client.Accepted `json:"accepted"`
	}{Accepted: []client.Accepted{}}
	duplicates := 0
	for {
		b, err := lines.next()
		if err == nil && len(b.lines) == 0 {
			break
		}
		var accepted []client.Accepted
		if err == nil {
			accepted, err = c.PublishDocument(ctx, client.MediaJSON, b.document())
		}
		if err != nil {
			return &fileError{err: err, file: shown, batch: b, published: len(all.Accepted)}
		}
		for _, a := range accepted {
			if a.Duplicate {
				duplicates++
			}
		}
		all.Accepted = append(all.Accepted, accepted...)
	}
	if p.json {
		return printJSON(p.out, all)
	}
	return p.printf("published %s\n", countOf(len(all.Accepted), duplicates))
}

func countOf(events, duplicates int) string {
	words := fmt.Sprintf("%d events", events)
	if events == 1 {
		words = "1 event"
	}
	if duplicates > 0 {
		words += fmt.Sprintf(", %d of them already published", duplicates)
	}
	return words
}

// eventLines reads events in batches that the server takes.
type eventLines struct {
	lines *bufio.Scanner
	// line is the number of the last one that was read. held is one that did
	// not fit into the batch before.
	line int
	held []byte
	// most is how many bytes a batch may have.
	most int
}

func newEventLines(r io.Reader) *eventLines {
	s := bufio.NewScanner(r)
	// The service says what is wrong with an event that is too large; a line
	// that no request could hold is not read at all.
	s.Buffer(nil, feedmill.MaxPublishBytes)
	return &eventLines{lines: s, most: feedmill.MaxPublishBytes}
}

// batch is events that are published together, all of them or none.
type batch struct {
	events [][]byte
	// lines are the numbers of the lines that they stand on.
	lines []int
}

// next reads the next batch; the last one is empty. With an error, the batch
// is what was read before the line that is wrong.
func (l *eventLines) next() (b batch, err error) {
	size := len("[]")
	add := func(event []byte) bool {
		if size += len(event) + len(","); size > l.most && len(b.events) > 0 {
			return false
		}
		b.events, b.lines = append(b.events, event), append(b.lines, l.line)
		return true
	}
	if l.held != nil {
		add(l.held)
		l.held = nil
	}
	for len(b.events) < client.MaxPublished && l.lines.Scan() {
		l.line++
		event := bytes.TrimSpace(l.lines.Bytes())
		if l.line == 1 {
			event = bytes.TrimPrefix(event, []byte("\ufeff"))
		}
		if len(event) == 0 {
			continue
		}
		if event[0] != '{' || !json.Valid(event) {
			return b, fmt.Errorf("line %d is not a JSON object", l.line)
		}
		if event = bytes.Clone(event); !add(event) {
			l.held = event
			break
		}
	}
	if errors.Is(l.lines.Err(), bufio.ErrTooLong) {
		return b, fmt.Errorf("line %d is longer than the maximum size of a request", l.line+1)
	}
	return b, l.lines.Err()
}

// document is the batch as a JSON array.
func (b batch) document() []byte {
	return append(append([]byte("["), bytes.Join(b.events, []byte(","))...), ']')
}

// line is the number of the line of the event that a JSON Pointer into the
// document leads to, and the pointer into that event.
func (b batch) line(pointer string) (line int, rest string, ok bool) {
	first, rest, deeper := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	i, err := strconv.Atoi(first)
	if err != nil || i < 0 || i >= len(b.lines) {
		return 0, "", false
	}
	if deeper {
		rest = "/" + rest
	}
	return b.lines[i], rest, true
}

// fileError is a file that could not be published from some line on.
type fileError struct {
	err       error
	file      string
	batch     batch
	published int
}

func (e *fileError) Unwrap() error { return e.err }

func (e *fileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.file)
	if p, ok := errors.AsType[*client.Problem](e.err); ok {
		located := *p
		located.Errors = nil
		for _, f := range p.Errors {
			if line, rest, ok := e.batch.line(f.Pointer); ok {
				f.Pointer = strings.TrimSpace(fmt.Sprintf("line %d %s", line, rest))
			}
			located.Errors = append(located.Errors, f)
		}
		var text strings.Builder
		explain(&text, &located)
		b.WriteString(strings.TrimSuffix(strings.TrimPrefix(text.String(), "feedmill: "), "\n"))
	} else {
		b.WriteString(e.err.Error())
	}
	switch {
	case e.published == 0:
		b.WriteString("\nNothing was published.")
	case len(e.batch.lines) == 0:
		fmt.Fprintf(&b, "\nThe %s before it were published.", countOf(e.published, 0))
	default:
		fmt.Fprintf(&b, "\nThe %s before line %d were published; the rest was not.", countOf(e.published, 0), e.batch.lines[0])
	}
	return b.String()
}

// lineFault is a fault with the line of the file that it is on.
type lineFault struct {
	client.Fault
	Line int `json:"line,omitzero"`
}

// document is the problem with the lines of the file, and how many events
// were published before it.
func (e *fileError) document() any {
	p, ok := errors.AsType[*client.Problem](e.err)
	if !ok {
		p = &client.Problem{Title: "Cannot read the file", Detail: e.err.Error()}
	}
	located := struct {
		client.Problem
		Errors    []lineFault `json:"errors,omitzero"`
		Published int         `json:"published"`
	}{Problem: *p, Published: e.published}
	for _, f := range p.Errors {
		line, _, _ := e.batch.line(f.Pointer)
		located.Errors = append(located.Errors, lineFault{f, line})
	}
	return located
}
