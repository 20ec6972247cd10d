package fetch

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"hash/crc32"
	"hash/maphash"
	"io"
	"math"
	"path"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// unwrap has a page that came as a file of gzip or zstd or in a zip archive be what is in it.
func (s *sequence) unwrap(a *answer, o outcome) outcome {
	head := make([]byte, 4)
	if n, _ := a.body.ReadAt(head, 0); n < len(head) {
		return o
	}
	var err error
	if string(head) == "PK\x03\x04" {
		err = s.unzip(a)
	} else {
		var inner io.ReadCloser
		if inner, err = unpacked(io.NewSectionReader(a.body, 0, a.size), head); inner != nil {
			err = errors.Join(s.respool(a, inner, ""), inner.Close())
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*feedmill.SourceFailure](err); !ok {
			err = spec.Fail("source-truncated", err, "The response is an archive that cannot be read: %s.", err)
			o.retry = true
		}
		o.err = err
	}
	return o
}

// unpacked reads what is in a file of gzip or zstd, by how it begins; nil where it is neither.
func unpacked(file io.Reader, head []byte) (io.ReadCloser, error) {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return decode.Decompress(file, "gzip", math.MaxInt64)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return decode.Decompress(file, "zstd", math.MaxInt64)
	}
	return nil, nil
}

// unzip has a page be the files of a zip archive that are meant. A workbook is an archive, too,
// and stays one.
func (s *sequence) unzip(a *answer) error {
	archive, err := zip.NewReader(io.NewSectionReader(a.body, 0, a.size), a.size)
	if err != nil {
		return err
	}
	found, err := decode.FindEntries(archive, s.job.Entry)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && len(refusal.Faults) > 0 {
		return spec.Fail("zip-entry", nil, "%s Set it in response.entry.", spec.Shorten(refusal.Faults[0].Detail))
	}
	if err != nil || len(found) == 0 {
		return err
	}
	if len(found) > maxEntries {
		return spec.Fail("zip-entry", nil, "response.entry matches %d files in the archive; the maximum is %d. Use a narrower pattern.", len(found), maxEntries)
	}
	s.lane.end += a.size
	var files []pageFile
	at, hash := s.lane.end, uint64(0)
	for _, entry := range found {
		file, err := s.writeEntry(entry, at)
		if err != nil {
			return err
		}
		at, hash = at+file.size, hash*31+file.hash
		if file.size > 0 || len(found) == 1 {
			files = append(files, file)
		}
	}
	if files == nil {
		files = []pageFile{{start: at}}
	}
	s.use(a, files[0])
	a.more, a.hash = files[1:], hash
	return nil
}

// maxEntries is how many files of one archive are read.
const maxEntries = 10_000

// pageFile is a file of an archive that is a page, and where it was written.
type pageFile struct {
	name        string
	start, size int64
	hash        uint64
	sum         uint32
}

// writeEntry writes a file of an archive, which may be compressed once more, to a place.
func (s *sequence) writeEntry(entry *zip.File, at int64) (f pageFile, err error) {
	if entry.Flags&1 != 0 {
		return f, spec.Fail("zip-entry", nil, "The file %q in the archive is encrypted. The source must send it without a password.", spec.Shorten(entry.Name))
	}
	file, err := entry.Open()
	if err != nil {
		return f, err
	}
	defer file.Close()
	buffered := bufio.NewReader(file)
	head, _ := buffered.Peek(4)
	inner, err := unpacked(buffered, head)
	if err != nil {
		return f, err
	}
	if inner == nil {
		inner = io.NopCloser(buffered)
	}
	f, err = s.write(at, inner)
	f.name = entry.Name
	return f, errors.Join(err, inner.Close())
}

// respool writes what was in a page behind it, and takes it for the page.
func (s *sequence) respool(a *answer, inner io.Reader, name string) error {
	s.lane.end += a.size
	f, err := s.write(s.lane.end, inner)
	if err != nil {
		return err
	}
	f.name = name
	s.use(a, f)
	return nil
}

// write writes data to a place of the lane.
func (s *sequence) write(at int64, inner io.Reader) (f pageFile, err error) {
	most := s.spec.Pagination.MaxBytes - s.spent.Load() - (at - s.lane.end)
	var hash maphash.Hash
	hash.SetSeed(hashSeed)
	sum := crc32.NewIEEE()
	out := io.NewOffsetWriter(s.lane.file, at)
	n, err := io.Copy(io.MultiWriter(out, &hash, sum), io.LimitReader(inner, most+1))
	if err != nil {
		return f, err
	}
	if n > most {
		return f, spec.Fail("data-too-large", nil, "The data is larger than %d bytes. Raise pagination.maxBytes, or request less data.", s.spec.Pagination.MaxBytes)
	}
	return pageFile{start: at, size: n, hash: hash.Sum64(), sum: sum.Sum32()}, nil
}

// use takes a file for the page.
func (s *sequence) use(a *answer, f pageFile) {
	a.start, a.size, a.hash, a.sum, a.file = f.start, f.size, f.hash, f.sum, f.name
	a.body, a.text = io.NewSectionReader(s.lane.file, a.start, f.size), nil
	a.header = a.header.Clone()
	a.header.Set("Content-Type", "application/octet-stream")
	plain := strings.TrimSuffix(strings.TrimSuffix(f.name, ".gz"), ".zst") // a file in it may be compressed itself
	if format, ok := spec.PageFormats.OfExtension(path.Ext(plain)); ok && len(format.MediaTypes) > 0 {
		a.header.Set("Content-Type", format.MediaTypes[0])
	}
}
