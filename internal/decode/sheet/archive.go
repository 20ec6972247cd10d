package sheet

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

const (
	// maxPart is how many bytes a part of a workbook can have when it is not compressed, and
	// maxParts how many parts there can be.
	maxPart  = 4 << 30
	maxParts = 10_000
	// maxSmall is how many bytes a part can have that is held in memory in other forms: the list of
	// sheets, the styles and the like.
	maxSmall = 16 << 20
)

// archive is the parts of a workbook by their names in small letters.
type archive map[string]*zip.File

// openArchive opens a zip file and looks at what it says of its parts.
func openArchive(data input.Source) (archive, error) {
	if data.Size() == 0 {
		return nil, input.ErrNoData
	}
	files, err := zip.NewReader(data, data.Size())
	if err != nil {
		return nil, input.Refuse("invalid-workbook", "the data is not a workbook or is truncated; it is not a valid ZIP file (%v)", err)
	}
	// The faster one of two decompressors.
	files.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	if len(files.File) > maxParts {
		return nil, input.Refuse("invalid-workbook", "the workbook has %d parts; the maximum is %d", len(files.File), maxParts)
	}
	type span struct{ from, to int64 }
	var spans []span
	parts := make(archive)
	for _, f := range files.File {
		from, err := f.DataOffset()
		if err != nil {
			return nil, input.Refuse("invalid-workbook", "the part %q of the workbook is damaged: %v", f.Name, err)
		}
		if f.CompressedSize64 > 0 {
			spans = append(spans, span{from, from + int64(f.CompressedSize64)})
		}
		parts[strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))] = f
	}
	slices.SortFunc(spans, func(a, b span) int { return int(min(max(a.from-b.from, -1), 1)) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return nil, input.Refuse("invalid-workbook", "parts of the workbook overlap, as in a ZIP bomb")
		}
	}
	return parts, nil
}

// has reports whether there is a part of a name.
func (a archive) has(name string) bool { return a[strings.ToLower(name)] != nil }

// open opens a part, of which so many bytes can be read.
func (a archive) open(name string, limit int64) (io.ReadCloser, error) {
	f := a[strings.ToLower(name)]
	if f == nil {
		return nil, input.Refuse("invalid-workbook", "the workbook has no part %s", name)
	}
	if f.Flags&1 != 0 {
		return nil, errEncrypted
	}
	body, err := f.Open()
	if err != nil {
		return nil, input.Refuse("invalid-workbook", "the part %s of the workbook cannot be read: %v", name, err)
	}
	return &limited{ReadCloser: body, left: limit, name: name, limit: limit}, nil
}

// read reads a part of XML from its first element on.
func (a archive) read(ctx context.Context, name string, limit int64, fn func(*xml.Reader) error) error {
	body, err := a.open(name, limit)
	if err != nil {
		return err
	}
	defer body.Close()
	r := xml.NewReader(input.NewContextReader(ctx, body))
	r.DropBlank = true
	return partError(name, fn(r))
}

var errEncrypted = input.Refuse("encrypted-workbook", "the workbook is encrypted; save it without a password")

// partError says in which part something is wrong.
func partError(name string, err error) error {
	if fault, ok := errors.AsType[*xml.Fault](err); ok {
		return input.Refuse("invalid-workbook", "the part %s of the workbook is not valid at line %d, column %d: %s", name, fault.Line, fault.Column, fault.Detail)
	}
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok || errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) {
		return input.Refuse("invalid-workbook", "the part %s of the workbook is damaged: %v", name, err)
	}
	return err
}

// limited reads up to a number of bytes, past which it fails.
type limited struct {
	io.ReadCloser
	left, limit int64
	name        string
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, input.Refuse("invalid-workbook", "the decompressed part %s of the workbook is longer than %d bytes, the maximum", l.name, l.limit)
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// resolve is the name of a part that another one names.
func resolve(from, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	if strings.HasPrefix(target, "/") {
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return strings.TrimPrefix(path.Join("/"+path.Dir(from), target), "/")
}

// attribute is the value of an attribute of the element that starts, by its local name.
func attribute(r *xml.Reader, local string) (value []byte) {
	for _, a := range r.Attributes() {
		if a.Name.Local == local {
			if a.Name.Space == "" {
				return a.Value
			}
			value = a.Value
		}
	}
	return value
}

// elements calls fn for every element of a document by its local name, in order.
func elements(r *xml.Reader, fn func(local string) error) error {
	for {
		kind, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && kind == xml.StartElement {
			err = fn(r.Name().Local)
		}
		if err != nil {
			return err
		}
	}
}
