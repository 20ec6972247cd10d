package feed

import (
	"bytes"
	"fmt"

	"github.com/feedmill/feedmill"
)

// shownBytes is how many bytes the rows of a preview have as JSON.
const shownBytes = 8 << 20

// shownRows takes the first rows of a preview as lines of JSON, as many as have room in
// shownBytes.
type shownRows struct {
	lines bytes.Buffer
	cut   bool
}

func (s *shownRows) Write(p []byte) (int, error) {
	if s.lines.Len()+len(p) > shownBytes {
		p = p[:max(0, bytes.LastIndexByte(p[:shownBytes-s.lines.Len()], '\n')+1)]
		s.cut = true
	}
	n, _ := s.lines.Write(p)
	if s.cut {
		return n, errEnough
	}
	return n, nil
}

// array is the rows as one array of JSON, and how many they are.
func (s *shownRows) array() ([]byte, int) {
	rows := s.lines.Bytes()[:bytes.LastIndexByte(s.lines.Bytes(), '\n')+1]
	out := append([]byte{'['}, bytes.ReplaceAll(bytes.TrimSuffix(rows, []byte("\n")), []byte("\n"), []byte(",\n"))...)
	return append(out, "]\n"...), bytes.Count(rows, []byte("\n"))
}

// warning says that fewer rows are shown than there are.
func (s *shownRows) warning(shown int, rows int64) feedmill.Warning {
	return feedmill.Warning{Code: feedmill.WarnPreviewCut, Count: min(rows, previewRows) - int64(shown), Detail: fmt.Sprintf(
		"The preview shows %d of the first %d rows, because its maximum is %d MiB. The feed contains all rows.", shown, min(rows, previewRows), shownBytes>>20)}
}
