package decode

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// chunkSize is how much of a text one goroutine looks at in one go. It fits the
// caches of a core.
const chunkSize = 1 << 19

// survey is what one look at the whole of a text tells.
type survey struct {
	mu sync.Mutex // held for the first places
	// chunk is how many bytes the chunks have.
	chunk int64
	// invalid is the first byte that is not UTF-8, control the first control
	// character that no text has, and nul the first zero byte; -1 where there
	// is none.
	invalid, control, nul int64
	// quotes counts the double quotes in each chunk.
	quotes []uint32
	// escape is the first double quote behind a backslash, or -1.
	escape int64
}

// surveyText looks at all of src. With guess set it looks for control
// characters as well, which takes longer.
func surveyText(ctx context.Context, src Source, chunk int64, guess bool) (*survey, error) {
	s := &survey{chunk: chunk, invalid: -1, control: -1, nul: -1, escape: -1}
	s.quotes = make([]uint32, (src.Size()+chunk-1)/chunk)
	err := s.eachChunk(ctx, src, func(k int, base int64, before, chunk []byte) {
		s.look(k, base, before, chunk, base+int64(len(chunk)) == src.Size())
		if guess {
			s.first(&s.control, bytes.IndexFunc(chunk, isControl), base)
		}
	})
	return s, err
}

// look takes in a chunk and the bytes before it; last says that it is the last one.
func (s *survey) look(k int, base int64, before, chunk []byte, last bool) {
	s.quotes[k] = uint32(bytes.Count(chunk, []byte{'"'}))
	s.first(&s.nul, bytes.IndexByte(chunk, 0), base)
	if s.quotes[k] > 0 {
		s.first(&s.escape, bytes.Index(chunk, []byte(`\"`)), base+1)
	}
	whole, cut := wholeRunes(before, chunk, last)
	if !utf8.Valid(whole) {
		s.first(&s.invalid, invalidAt(whole), base-int64(cut))
	}
}

// first makes at the first of the places that are found.
func (s *survey) first(at *int64, found int, base int64) {
	if found < 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if offset := base + int64(found); *at < 0 || offset < *at {
		*at = offset
	}
}

// lookBehind is how many bytes before a chunk are read with it, which is enough
// to find where the character that crosses its start begins.
const lookBehind = utf8.UTFMax - 1

// eachChunk calls fn for every chunk of src and the bytes before it, from
// several goroutines at the same time.
func (s *survey) eachChunk(ctx context.Context, src Source, fn func(k int, base int64, before, chunk []byte)) error {
	size := src.Size()
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), len(s.quotes)) {
		group.Go(func() error {
			buffer := make([]byte, min(size, lookBehind+s.chunk))
			for {
				k := next.Add(1) - 1
				base := k * s.chunk
				if base >= size {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				from := max(base-lookBehind, 0)
				data := buffer[:min(base+s.chunk, size)-from]
				if err := readFull(src, data, from); err != nil {
					return err
				}
				fn(int(k), base, data[:base-from], data[base-from:])
			}
		})
	}
	return group.Wait()
}

// readFull fills p from src.
func readFull(src io.ReaderAt, p []byte, offset int64) error {
	n, err := src.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// wholeRunes moves both ends of a chunk back to where a character begins, the
// start by cut into the bytes before it; the end of the last chunk stays. All
// chunks together still cover all bytes, so that text is valid where every chunk is.
func wholeRunes(before, chunk []byte, last bool) (whole []byte, cut int) {
	cut = partialRune(before)
	whole = chunk
	if cut > 0 {
		// The bytes before a chunk stand before it in the same buffer.
		end := len(before) + len(chunk)
		whole = before[len(before)-cut : end : end]
	}
	if !last {
		whole = whole[:len(whole)-partialRune(whole)]
	}
	return whole, cut
}

// partialRune is how many bytes at the end of p begin a character that is not
// complete there.
func partialRune(p []byte) int {
	for n := 1; n <= min(lookBehind, len(p)); n++ {
		if utf8.RuneStart(p[len(p)-n]) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

func invalidAt(p []byte) int {
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// isControl reports whether text holds no such character. Separators of fields
// and records that some systems use are none of them.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != '\v' && r != 0x01 && r != 0x1a && r < 0x1c || r == 0x7f
}
