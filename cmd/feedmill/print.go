package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

// printer writes what a command has to say, for people or for machines.
type printer struct {
	out   io.Writer
	notes io.Writer // for what is not the answer itself
	// json reports that machines read the output, which has the format; answers is what the
	// service sent then.
	json    bool
	format  outputFormat
	answers tape
	// colour is for people at a terminal who have not said no to it.
	colour bool
	// failed is why something could not be printed; nothing is after that.
	failed error
}

// newPrinter makes a printer for a command that works with a client.
func newPrinter(cmd *cobra.Command, c *client.Client) *printer {
	format := wantedFormat(cmd)
	p := &printer{out: cmd.OutOrStdout(), notes: cmd.ErrOrStderr(), json: format != formatTable, format: format}
	if p.json {
		p.answers.record(c)
	}
	f, ok := p.out.(*os.File)
	p.colour = ok && os.Getenv("NO_COLOR") == "" && isTerminal(f)
	return p
}

func printJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

// writeJSON writes a JSON text whose strings have escapes for all that a terminal
// would obey: for a machine they are the same strings.
func writeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON writes as escapes what is not to be seen in a JSON text, which can
// only stand in strings.
func escapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// show prints what the service answered: as it was said, for machines, or in
// the words that inWords writes.
func (p *printer) show(inWords func() error) error {
	if p.json {
		return p.machine(p.answers.document())
	}
	return inWords()
}

// say prints a line for people. For machines the exit code says it.
func (p *printer) say(format string, args ...any) error {
	if p.json {
		return nil
	}
	return p.printf(format, args...)
}

// shown prints what the service answered, in words as print does, unless err says
// that it did not.
func shown[T any](p *printer, v T, err error, print func(*printer, T) error) error {
	if err != nil {
		return err
	}
	return p.show(func() error { return print(p, v) })
}

// painted is a text that is safe at a terminal, with the colours that were put
// on it.
type painted string

// printf prints for people. Texts that are not painted are somebody else's, and
// nothing in them is obeyed by a terminal.
func (p *printer) printf(format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = plainLines(text)
		}
	}
	if p.failed == nil {
		_, p.failed = fmt.Fprintf(p.out, format, args...)
	}
	return p.failed
}

// list prints a list up to its limit, as a JSON array or as a table with the
// row that of makes of each record, and says where there is more. A limit of
// zero is none.
func list[T any](p *printer, records iter.Seq2[T, error], limit int, header []string, of func(T) []cell) error {
	var found []T
	more := false
	for r, err := range records {
		if err != nil {
			return err
		}
		if more = limit > 0 && len(found) == limit; more {
			break
		}
		found = append(found, r)
	}
	if p.json {
		raw, err := p.answers.records(limit)
		if err != nil {
			return err
		}
		return p.machine(raw)
	}
	t := table{header: header}
	for _, r := range found {
		t.add(of(r)...)
	}
	if err := p.table(t); err != nil || !more {
		return err
	}
	_, err := fmt.Fprintf(p.notes, "Only the first %d are shown. Use --limit to show more.\n", limit)
	return err
}

// paged sets how much a client asks for at once, for a list with a limit.
func paged(c *client.Client, limit int) *client.Client {
	const most = 500
	c.PageSize = most
	if limit > 0 {
		c.PageSize = min(limit+1, most) // one more says whether there is more
	}
	return c
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format(time.DateTime)
}

// momentOrNone is empty for what does not happen.
func momentOrNone(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return moment(t)
}

// plain is text of somebody else's on one line, with nothing in it that a
// terminal would obey.
func plain(text string) string { return escape(text, "") }

// plainLines is plain for text of several lines.
func plainLines(text string) string { return escape(text, "\n\t") }

func escape(text, allowed string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || strings.ContainsRune(allowed, r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}
