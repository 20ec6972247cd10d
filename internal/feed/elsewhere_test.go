package feed

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// halfThere has the files whose names end with "here", of a store that lists files of two pages.
type halfThere struct {
	Files
	Sums
	names []string
}

func (h halfThere) Lease(_ context.Context, name string) (feedmill.FileLease, error) {
	if strings.HasSuffix(name, "here") {
		return feedmill.FileLease{Path: name, Release: func() {}}, nil
	}
	return feedmill.FileLease{}, fmt.Errorf("no %s", name)
}

func (h halfThere) CurrentFiles(_ context.Context, after string, limit int) ([]string, error) {
	i, found := slices.BinarySearch(h.names, after)
	if found {
		i++
	}
	return h.names[i:min(i+limit, len(h.names))], nil
}

// TestCountMissing counts files over several pages, and warns once.
func TestCountMissing(t *testing.T) {
	var h halfThere
	for i := range missingStep + 2 {
		h.names = append(h.names, fmt.Sprintf("%05d here", i))
	}
	var log bytes.Buffer
	v := NewVerifiedFiles(NewRecordedFiles(h, noObjects{}, "test", ""), h, slog.New(slog.NewTextHandler(&log, nil)), nil)
	if n, err := v.CountMissing(t.Context(), 0); n != 0 || err != nil || log.Len() > 0 {
		t.Errorf("%d are missing, %v: %s", n, err, &log)
	}
	h.names[1], h.names[missingStep+1] = "00001 gone", "99999 gone"
	v.Files, v.sums = h, h
	before := 0
	for range 2 {
		n, err := v.CountMissing(t.Context(), before)
		if n != 2 || err != nil || strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "missing=2 files=1002") {
			t.Errorf("%d are missing, %v: %s", n, err, &log)
		}
		before = n
	}
}
