package input

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// ChunkSize is how much of a text one goroutine looks at in one go. It fits the
// caches of a core.
const ChunkSize = 1 << 19

// Survey is what reading the whole of a text once tells.
type Survey struct {
	mu sync.Mutex // held for the first places
	// Chunk is how many bytes the chunks have.
	Chunk int64
	// Invalid is the first byte that is not UTF-8, Control the first control
	// character that no text has, and NUL the first zero byte; -1 where there
	// is none.
	Invalid, Control, NUL int64
	// Quotes counts the double quotes in each chunk.
	Quotes []uint32
	// Characters counts those of several bytes, and Bad the bytes that are not
	// UTF-8, where they were asked for.
	Characters, Bad int64
	// Escape is the first double quote behind a backslash, or -1.
	Escape int64
	// breaks are where lines begin that follow an empty line, the first of each chunk.
	breaks []int64
}

// MaxBreaks is how many empty lines of a chunk are remembered inside of quotes and as many outside.
const MaxBreaks = 100

// Breaks are where lines begin that follow an empty line, in order: the first of each chunk. Some
// may be in quotes.
func (s *Survey) Breaks() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.breaks)
	return slices.Compact(s.breaks)
}

// findBreaks notes where lines follow an empty line that ends in a chunk.
func (s *Survey) findBreaks(base int64, before, chunk []byte) {
	whole := chunk
	if n := len(before) + len(chunk); len(before) > 0 {
		whole = before[:n:n] // both are in the same buffer
	}
	base += int64(len(chunk) - len(whole))
	found := [2]int{} // behind an even and an odd number of quotes
	for at, last, odd := 0, 0, 0; ; {
		newline := bytes.IndexByte(whole[at:], '\n')
		if newline < 0 {
			return
		}
		at += newline + 1
		from := at
		for from < len(whole) && (whole[from] == '\n' || whole[from] == '\r' && from+1 < len(whole) && whole[from+1] == '\n') {
			from++
		}
		if from == at {
			continue
		}
		odd = (odd + bytes.Count(whole[last:from], []byte{'"'})) % 2
		at, last = from, from
		if found[odd]++; found[odd] <= MaxBreaks {
			s.mu.Lock()
			s.breaks = append(s.breaks, base+int64(from))
			s.mu.Unlock()
		}
	}
}

// NewSurvey returns a survey of nothing, with chunks of so many bytes.
func NewSurvey(chunk int64) *Survey {
	return &Survey{Chunk: chunk, Invalid: -1, Control: -1, NUL: -1, Escape: -1}
}

// Add surveys the next chunk, which stands behind the bytes before it; last says
// that it is the last one. It is for a text that is still arriving.
func (s *Survey) Add(base int64, before, chunk []byte, last bool) {
	s.Quotes = append(s.Quotes, 0)
	s.scan(len(s.Quotes)-1, base, before, chunk, last)
}

// surveyText surveys all of src. With guess set it looks for control characters as
// well, which takes longer.
func surveyText(ctx context.Context, src Source, chunk int64, guess bool) (*Survey, error) {
	s := NewSurvey(chunk)
	s.Quotes = make([]uint32, (src.Size()+chunk-1)/chunk)
	err := s.eachChunk(ctx, src, func(k int, base int64, before, chunk []byte) {
		s.scan(k, base, before, chunk, base+int64(len(chunk)) == src.Size())
		if guess {
			s.countCharacters(before, chunk, base+int64(len(chunk)) == src.Size())
			s.first(&s.Control, bytes.IndexFunc(chunk, isControl), base)
		}
	})
	return s, err
}

// IsUTF8 reports whether all of a text is UTF-8.
func IsUTF8(ctx context.Context, src Source) (bool, error) {
	found, err := surveyText(ctx, src, ChunkSize, false)
	return err == nil && found.Invalid < 0, err
}

// scan surveys a chunk.
func (s *Survey) scan(k int, base int64, before, chunk []byte, last bool) {
	s.Quotes[k] = uint32(bytes.Count(chunk, []byte{'"'}))
	s.first(&s.NUL, bytes.IndexByte(chunk, 0), base)
	if s.Quotes[k] > 0 {
		s.first(&s.Escape, bytes.Index(chunk, []byte(`\"`)), base+1)
	}
	s.findBreaks(base, before, chunk)
	whole, cut := wholeRunes(before, chunk, last)
	if !utf8.Valid(whole) {
		s.first(&s.Invalid, InvalidAt(whole), base-int64(cut))
	}
}

// countCharacters counts the characters of a chunk that are not ASCII.
func (s *Survey) countCharacters(before, chunk []byte, last bool) {
	whole, _ := wholeRunes(before, chunk, last)
	good, bad := int64(0), int64(0)
	for i := 0; i < len(whole); {
		r, n := utf8.DecodeRune(whole[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		i += n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Characters += good
	s.Bad += bad
}

// first makes at the first of the places that are found.
func (s *Survey) first(at *int64, found int, base int64) {
	if found < 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if offset := base + int64(found); *at < 0 || offset < *at {
		*at = offset
	}
}

// LookBehind is how many bytes before a chunk are read with it, which is enough
// to find where the character that crosses its start begins.
const LookBehind = utf8.UTFMax - 1

// eachChunk calls fn for every chunk of src and the bytes before it, from
// several goroutines at the same time.
func (s *Survey) eachChunk(ctx context.Context, src Source, fn func(k int, base int64, before, chunk []byte)) error {
	size := src.Size()
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), len(s.Quotes)) {
		group.Go(func() error {
			buffer := make([]byte, min(size, LookBehind+s.Chunk))
			for {
				k := next.Add(1) - 1
				base := k * s.Chunk
				if base >= size {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				from := max(base-LookBehind, 0)
				data := buffer[:min(base+s.Chunk, size)-from]
				if err := ReadFull(src, data, from); err != nil {
					return err
				}
				fn(int(k), base, data[:base-from], data[base-from:])
			}
		})
	}
	return group.Wait()
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
	for n := 1; n <= min(LookBehind, len(p)); n++ {
		if utf8.RuneStart(p[len(p)-n]) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// InvalidAt is the first byte that is not UTF-8, or -1.
func InvalidAt(p []byte) int {
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
