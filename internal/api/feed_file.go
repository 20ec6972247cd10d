package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// wholeFile reports whether a request is for all rows of a query as a file whose parts can be
// read by themselves. A query that depends on the time gives other rows later, so there
// is no such file of it.
func (c *call) wholeFile(v feedmill.FeedVersion, q feedmill.Query, format outputFormat) bool {
	return format.name == "parquet" && v.Since == nil && len(v.Columns) > 0 &&
		q.Limit == 0 && q.Offset == 0 && c.query["cursor"] == "" && !q.Relative()
}

// wantsParts reports whether a client means to read a file part by part: it asks for one, or
// first for how long the file is.
func (c *call) wantsParts() bool {
	return c.r.Method == http.MethodHead || c.r.Header.Get("Range") != ""
}

// answerFile answers with a file, or the part of it that is asked for (RFC 9110, section 14).
func (c *call) answerFile(a answer, file feedmill.FeedFile, etag string) (answer, error) {
	size := file.Size()
	from, to, ok := int64(0), size, true
	if c.r.Method == http.MethodGet && c.sameFile(etag) {
		from, to, ok = byteRange(c.r.Header.Values("Range"), size)
	}
	if !ok {
		_ = file.Close() // nothing was written
		return noSuchPart(instance(c.r), size), nil
	}
	if to-from < size {
		a.status = http.StatusPartialContent
		a.set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, size))
	}
	a.set("Content-Length", strconv.FormatInt(to-from, 10))
	if c.r.Method == http.MethodHead {
		a.stream = func(context.Context, http.ResponseWriter) {}
		return a, file.Close()
	}
	// One that counts readings need not count every part: each reader reads the end.
	c.inside = to < size
	a.stream = func(_ context.Context, w http.ResponseWriter) {
		defer file.Close()
		c.begun()
		control := http.NewResponseController(w)
		out := deadlined{w, func() {
			control.SetWriteDeadline(time.Now().Add(chunkTimeout)) // a recorder in a test has none
		}}
		// Where this fails, the client went away or misses bytes that it was promised.
		_, _ = io.CopyBuffer(out, io.NewSectionReader(file, from, to-from), make([]byte, chunkBytes))
	}
	return a, nil
}

// sameFile reports whether a part still belongs to what the client has of the file.
func (c *call) sameFile(etag string) bool {
	condition := strings.TrimSpace(c.r.Header.Get("If-Range"))
	return condition == "" || condition == etag
}

// byteRange is the part that a Range header asks for, from one byte up to another, and
// the whole where it asks for none or for several. It reports false for a part that there is not.
func byteRange(header []string, size int64) (from, to int64, ok bool) {
	text, isBytes := strings.CutPrefix(strings.TrimSpace(strings.Join(header, ",")), "bytes=")
	first, last, isRange := strings.Cut(text, "-")
	first, last = strings.TrimSpace(first), strings.TrimSpace(last)
	if !isBytes || !isRange || first == "" && last == "" || !digits(first) || !digits(last) {
		return 0, size, true
	}
	from, to = number(first), size
	switch {
	case first == "":
		from = max(size-number(last), 0)
	case last != "":
		if number(last) < from {
			return 0, size, true
		}
		to = min(size, number(last)+1)
	}
	return from, to, from < size
}

func digits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// number is what digits say; what is beyond any file is beyond any file.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil && text != "" {
		return 1 << 62
	}
	return min(n, 1<<62)
}

func noSuchPart(instance string, size int64) answer {
	p := problem{
		Type: "/problems/range-not-satisfiable", Title: "The range is not satisfiable", Status: http.StatusRequestedRangeNotSatisfiable,
		Detail: fmt.Sprintf("The file has %d bytes, numbered from 0. Request a range that starts before its end.", size),
		Errors: []problemFault{{Header: "Range", Detail: "Range starts after the end of the file, or is empty."}}, Instance: instance,
	}
	a := p.answer()
	a.set("Content-Range", fmt.Sprintf("bytes */%d", size))
	return a
}
