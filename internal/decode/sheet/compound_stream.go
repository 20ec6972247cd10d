package sheet

import (
	"io"
	"sort"
)

// stream is a stream of a compound file.
type stream struct {
	data io.ReaderAt
	// extents are the runs of sectors that follow each other in the file.
	extents []extent
	size    int64
}

// extent is a part of a stream that lies in one piece.
type extent struct {
	at   int64 // in the stream
	from int64 // in the file
}

// add adds a sector to the end.
func (s *stream) add(from, length int64) {
	if n := len(s.extents); n == 0 || s.extents[n-1].from+s.size-s.extents[n-1].at != from {
		s.extents = append(s.extents, extent{s.size, from})
	}
	s.size += length
}

// ReadAt reads a part of the stream.
func (s stream) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && at < s.size {
		i := sort.Search(len(s.extents), func(i int) bool { return s.extents[i].at > at }) - 1
		end := s.size
		if i+1 < len(s.extents) {
			end = s.extents[i+1].at
		}
		part := p[n:min(int64(len(p)), int64(n)+end-at)]
		read, err := s.data.ReadAt(part, s.extents[i].from+at-s.extents[i].at)
		n, at = n+read, at+int64(read)
		if read < len(part) {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Size is how many bytes there are.
func (s stream) Size() int64 { return s.size }
