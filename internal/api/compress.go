package api

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codings are the content codings of rows that are text, of which the first is
// taken where a client wants several alike.
var codings = []string{"zstd", "gzip"}

// coding is the one that the client wants most, empty for none.
func (c *call) coding(f outputFormat) string {
	if !f.text {
		return ""
	}
	wanted := make(map[string]float64)
	for part := range strings.SplitSeq(strings.Join(c.r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), ";")
		quality := 1.0
		if text, ok := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q="); ok {
			q, err := strconv.ParseFloat(text, 64)
			if err != nil {
				q = 0
			}
			quality = q
		}
		wanted[strings.TrimSpace(name)] = quality
	}
	of := func(name string) float64 {
		if q, named := wanted[name]; named {
			return q
		}
		return wanted["*"]
	}
	best := slices.MaxFunc(codings, func(a, b string) int { return cmp.Compare(of(a), of(b)) })
	if plain, named := wanted["identity"]; of(best) == 0 || named && plain > of(best) {
		return ""
	}
	return best
}

// coded is the answer with what says how its body is coded.
func (a *answer) coded(coding string) {
	a.set("Vary", "Accept-Encoding")
	if coding != "" {
		a.set("Content-Encoding", coding)
	}
}

// compress is a writer whose bytes come coded to w. It must be closed where all was
// written; else the end that is missing tells that it was not.
func compress(w io.Writer, coding string) io.WriteCloser {
	switch coding {
	case "gzip":
		z := gzipWriters.Get().(*gzip.Writer)
		z.Reset(w)
		return &gzipWriter{z}
	case "zstd":
		// Of a window of 8 MiB every client has the memory (RFC 9659).
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // the options are right
		}
		return z
	}
	return plainWriter{w}
}

// gzipWriters are used again, because one takes longer to create than to compress a page.
var gzipWriters = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}}

// gzipWriter is a writer that is released when it is closed.
type gzipWriter struct{ *gzip.Writer }

func (w *gzipWriter) Close() error {
	if w.Writer == nil {
		return nil
	}
	err := w.Writer.Close()
	w.Reset(io.Discard)
	gzipWriters.Put(w.Writer)
	w.Writer = nil
	return err
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

// deadlined gives a client so long for each part of an answer.
type deadlined struct {
	http.ResponseWriter
	extend func()
}

func (d deadlined) Write(p []byte) (int, error) {
	d.extend()
	return d.ResponseWriter.Write(p)
}
