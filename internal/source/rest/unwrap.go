package rest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"hash/crc32"
	"hash/maphash"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// unwrap has a page that came as a gzip file or in a zip archive be what is in it.
func (s *sequence) unwrap(a *answer, o outcome) outcome {
	head := make([]byte, 4)
	if n, _ := a.body.ReadAt(head, 0); n < len(head) {
		return o
	}
	var inner io.Reader
	var name string
	var err error
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		inner, err = gzip.NewReader(io.NewSectionReader(a.body, 0, a.size))
	case string(head) == "PK\x03\x04":
		inner, name, err = s.entry(a)
	}
	if inner == nil && err == nil {
		return o
	}
	if err == nil {
		err = s.respool(a, inner, name)
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
func (s *sequence) entry(a *answer) (io.Reader, string, error) {
	archive, err := zip.NewReader(io.NewSectionReader(a.body, 0, a.size), a.size)
	if err != nil {
		return nil, "", err
	}
	var names []string
	var found *zip.File
	for _, file := range archive.File {
		if file.Name == "[Content_Types].xml" || file.Name == "mimetype" {
			return nil, "", nil
		}
		if strings.HasSuffix(file.Name, "/") || strings.HasPrefix(file.Name, "__MACOSX/") {
			continue
		}
		names = append(names, file.Name)
		if matches, _ := path.Match(s.job.Entry, file.Name); s.job.Entry == "" || matches || s.job.Entry == file.Name {
			found = file
		}
	}
	slices.Sort(names)
	listed := strings.Join(names[:min(len(names), 10)], ", ")
	switch {
	case s.job.Entry == "" && len(names) > 1:
		return nil, "", fail("zip-entry", nil, "The answer is a zip archive of %d files: %s. Say in response.entry which one is meant.", len(names), shorten(listed))
	case found == nil:
		return nil, "", fail("zip-entry", nil, "The zip archive that the source answered has no file %q; it has: %s.", s.job.Entry, shorten(listed))
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
	a.body = io.NewSectionReader(s.lane.file, a.start, n)
	a.header = a.header.Clone()
	a.header.Set("Content-Type", "application/octet-stream")
	if format, ok := pageFormats.OfExtension(path.Ext(name)); ok && len(format.MediaTypes) > 0 {
		a.header.Set("Content-Type", format.MediaTypes[0])
	}
	return nil
}
