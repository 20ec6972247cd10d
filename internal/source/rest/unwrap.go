package rest

import (
	"archive/zip"
	"bytes"
	"errors"
	"hash/crc32"
	"hash/maphash"
	"io"
	"math"
	"path"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
)

// unwrap has a page that came as a file of gzip or zstd or in a zip archive be what is in it.
func (s *sequence) unwrap(a *answer, o outcome) outcome {
	head := make([]byte, 4)
	if n, _ := a.body.ReadAt(head, 0); n < len(head) {
		return o
	}
	var inner io.ReadCloser
	var name string
	var err error
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		inner, err = decode.Decompress(io.NewSectionReader(a.body, 0, a.size), "gzip", math.MaxInt64)
	case string(head) == "\x28\xb5\x2f\xfd":
		inner, err = decode.Decompress(io.NewSectionReader(a.body, 0, a.size), "zstd", math.MaxInt64)
	case string(head) == "PK\x03\x04":
		inner, name, err = s.entry(a)
	}
	if inner == nil && err == nil {
		return o
	}
	if err == nil {
		err = errors.Join(s.respool(a, inner, name), inner.Close())
	}
	if err != nil {
		if _, ok := errors.AsType[*feedmill.SourceFailure](err); !ok {
			err = fail("source-truncated", err, "The answer is an archive that cannot be read: %s.", err)
			o.retry = true
		}
		o.err = err
	}
	return o
}

// entry opens the file of a zip archive that is meant. A workbook is an archive, too,
// and stays one.
func (s *sequence) entry(a *answer) (io.ReadCloser, string, error) {
	archive, err := zip.NewReader(io.NewSectionReader(a.body, 0, a.size), a.size)
	if err != nil {
		return nil, "", err
	}
	found, err := decode.FindEntry(archive, s.job.Entry)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && len(refusal.Faults) > 0 {
		return nil, "", fail("zip-entry", nil, "%s Name it in response.entry.", shorten(refusal.Faults[0].Detail))
	}
	if err != nil || found == nil {
		return nil, "", err
	}
	file, err := found.Open()
	return file, found.Name, err
}

// respool writes what was in a page behind it, and takes it for the page.
func (s *sequence) respool(a *answer, inner io.Reader, name string) error {
	s.lane.end += a.size
	most := s.spec.pagination.maxBytes - s.spent.Load()
	var hash maphash.Hash
	hash.SetSeed(hashSeed)
	sum := crc32.NewIEEE()
	out := io.NewOffsetWriter(s.lane.file, s.lane.end)
	n, err := io.Copy(io.MultiWriter(out, &hash, sum), io.LimitReader(inner, most+1))
	if err != nil {
		return err
	}
	if n > most {
		return fail("data-too-large", nil, "There is more data than %d bytes. Raise pagination.maxBytes, or ask for less.", s.spec.pagination.maxBytes)
	}
	a.start, a.size, a.hash, a.sum = s.lane.end, n, hash.Sum64(), sum.Sum32()
	a.body, a.text = io.NewSectionReader(s.lane.file, a.start, n), nil
	a.header = a.header.Clone()
	a.header.Set("Content-Type", "application/octet-stream")
	if format, ok := pageFormats.OfExtension(path.Ext(name)); ok && len(format.MediaTypes) > 0 {
		a.header.Set("Content-Type", format.MediaTypes[0])
	}
	return nil
}
