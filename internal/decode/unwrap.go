package decode

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/sheet"
)

// Wrapped says what is known of data that may have come in a file around it.
type Wrapped struct {
	// FileName is what the file is called, where that is known.
	FileName string
	// Entry names the file of a zip archive that is meant, exactly or by a pattern such as *.csv;
	// empty is the only one.
	Entry string
	// Limit is how many bytes the data may have, in the file and out of it.
	Limit int64
	// Temp is the folder for a temporary file; empty is that of the system.
	Temp string
}

const (
	gzipMark = "\x1f\x8b"
	zstdMark = "\x28\xb5\x2f\xfd"
	zipMark  = "PK\x03\x04"
	// emptyZip is how a zip archive begins that has no files.
	emptyZip = "PK\x05\x06"
)

// Unwrap takes data out of the gzip file, the zstd file or the zip archive that it came in, told by its content. There
// is one such file around data at most. A workbook is a zip archive, too, and stays one. Data that came as
// it is is read as it is.
func Unwrap(ctx context.Context, r io.Reader, w Wrapped) (feedmill.Unwrapped, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(input.HeadBytes)
	if err != nil && err != io.EOF {
		return feedmill.Unwrapped{}, err
	}
	var out feedmill.Unwrapped
	switch {
	case bytes.HasPrefix(head, []byte(gzipMark)):
		out = feedmill.Unwrapped{Wrapper: "gzip", Name: cutEnding(w.FileName, ".gz", ".gzip")}
	case bytes.HasPrefix(head, []byte(zstdMark)):
		out = feedmill.Unwrapped{Wrapper: "zstd", Name: cutEnding(w.FileName, ".zst", ".zstd")}
	case bytes.HasPrefix(head, []byte(zipMark)) && !beginsWorkbook(head), bytes.HasPrefix(head, []byte(emptyZip)):
		return unzip(ctx, in, w)
	default:
		return feedmill.Unwrapped{ReadCloser: io.NopCloser(in), Format: Recognise(head, err == io.EOF)}, nil
	}
	plain, err := Decompress(in, out.Wrapper, w.Limit)
	if err != nil {
		return feedmill.Unwrapped{}, err
	}
	return within(out, plain)
}

// cutEnding is a name without one of the endings.
func cutEnding(name string, endings ...string) string {
	for _, ending := range endings {
		if at := len(name) - len(ending); at > 0 && strings.EqualFold(name[at:], ending) {
			return name[:at]
		}
	}
	return name
}

// beginsWorkbook reports whether the first file of a zip archive is one that workbooks begin with.
func beginsWorkbook(head []byte) bool {
	if len(head) < 30 {
		return false
	}
	name := head[30:min(len(head), 30+int(head[26])+int(head[27])<<8)]
	return slices.ContainsFunc([]string{"[Content_Types].xml", "mimetype", "xl/", "_rels/", "docProps/"}, func(first string) bool {
		return bytes.HasPrefix(name, []byte(first))
	})
}

// within looks at what was in a file.
func within(out feedmill.Unwrapped, plain io.ReadCloser) (feedmill.Unwrapped, error) {
	in := bufio.NewReaderSize(plain, actualBytes)
	head, err := in.Peek(actualBytes)
	whole := err == io.EOF
	switch {
	case err != nil && !whole:
	case bytes.HasPrefix(head, []byte(gzipMark)), bytes.HasPrefix(head, []byte(zstdMark)):
		err = input.Refuse("compressed-data", "the data in the %s file is compressed again; compress it only once", out.Wrapper)
	default:
		out.Format, err = Recognise(head, whole), nil
	}
	if err != nil {
		return feedmill.Unwrapped{}, errors.Join(err, plain.Close())
	}
	out.ReadCloser = struct {
		io.Reader
		io.Closer
	}{in, plain}
	return out, nil
}

// unzip writes a zip archive to a temporary file, because its list of files is at its end, and opens the
// one that is meant.
func unzip(ctx context.Context, r io.Reader, w Wrapped) (feedmill.Unwrapped, error) {
	spool := input.NewSpool(w.Temp)
	data, err := spool.Write(func(to io.Writer) error {
		_, err := io.Copy(to, input.NewContextReader(ctx, r))
		return err
	})
	if err != nil {
		return feedmill.Unwrapped{}, errors.Join(unspooled(err), spool.Close())
	}
	out, err := openEntry(data, w)
	if err != nil {
		return feedmill.Unwrapped{}, errors.Join(err, spool.Close())
	}
	out.ReadCloser = struct {
		io.Reader
		io.Closer
	}{out, closers{out.ReadCloser, spool}}
	return out, nil
}

// unspooled is what is wrong with data that was to be written to a file, without how it was written.
func unspooled(err error) error {
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		return refusal
	}
	return err
}

type closers []io.Closer

func (c closers) Close() (err error) {
	for _, closer := range c {
		err = errors.Join(err, closer.Close())
	}
	return err
}

func openEntry(data input.Source, w Wrapped) (feedmill.Unwrapped, error) {
	archive, err := zip.NewReader(data, data.Size())
	if err != nil {
		return feedmill.Unwrapped{}, input.Refuse("truncated-data", "the ZIP archive is damaged or truncated: %v", err)
	}
	file, err := FindEntry(archive, w.Entry)
	if err != nil {
		return feedmill.Unwrapped{}, err
	}
	if file == nil { // a workbook
		return feedmill.Unwrapped{ReadCloser: io.NopCloser(io.NewSectionReader(data, 0, data.Size())), Format: sheet.Kind(data)}, nil
	}
	if file.Flags&1 != 0 {
		return feedmill.Unwrapped{}, input.Refuse("encrypted-data", "the file %q in the ZIP archive is encrypted; create the archive without a password", file.Name)
	}
	content, err := file.Open()
	if err != nil {
		return feedmill.Unwrapped{}, damagedEntry(file.Name, err)
	}
	plain, err := Decompress(entryReader{content, file.Name}, "", w.Limit)
	if err != nil {
		return feedmill.Unwrapped{}, errors.Join(err, content.Close())
	}
	return within(feedmill.Unwrapped{Wrapper: "zip", Name: path.Base(file.Name)}, struct {
		io.Reader
		io.Closer
	}{plain, closers{plain, content}})
}

// entryReader says which file of an archive cannot be read.
type entryReader struct {
	io.ReadCloser
	name string
}

func (e entryReader) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, os.ErrClosed) {
		err = damagedEntry(e.name, err)
	}
	return n, err
}

func damagedEntry(name string, err error) error {
	return input.Refuse("compressed-data", "the file %q in the ZIP archive cannot be read: %v", name, err)
}

// FindEntry finds the file of a zip archive that a name or a pattern means, or the only one where there is
// none. It is nil where the archive is a workbook.
func FindEntry(archive *zip.Reader, entry string) (*zip.File, error) {
	found, names, err := findEntries(archive, entry)
	switch {
	case err != nil || len(found) == 0:
		return nil, err
	case len(found) > 1:
		return nil, refuseEntry("entry matches %d files in the ZIP archive and must match one. The archive contains: %s.", len(found), listEntries(names))
	}
	return found[0], nil
}

// FindEntries finds all files of a zip archive that a name or a pattern means, in the order of their names,
// or the only one where there is none. There are none where the archive is a workbook.
func FindEntries(archive *zip.Reader, entry string) ([]*zip.File, error) {
	found, _, err := findEntries(archive, entry)
	slices.SortFunc(found, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	return found, err
}

func findEntries(archive *zip.Reader, entry string) (found []*zip.File, names []string, err error) {
	for _, file := range archive.File {
		if file.Name == "[Content_Types].xml" || file.Name == "mimetype" {
			return nil, nil, nil
		}
		if strings.HasSuffix(file.Name, "/") || strings.HasPrefix(file.Name, "__MACOSX/") || path.Base(file.Name) == ".DS_Store" {
			continue
		}
		names = append(names, file.Name)
		named := file.Name
		if !strings.Contains(entry, "/") { // a pattern without folders is one of files, in whatever folder
			named = path.Base(named)
		}
		switch matches, _ := path.Match(entry, named); {
		case file.Name == entry:
			return []*zip.File{file}, names, nil
		case entry == "", matches:
			found = append(found, file)
		}
	}
	switch {
	case len(names) == 0:
		return nil, nil, refuseEntry("The ZIP archive contains no files.")
	case entry == "" && len(found) > 1:
		return nil, nil, refuseEntry("The ZIP archive contains %d files. Set entry to one of them: %s.", len(names), listEntries(names))
	case len(found) == 0:
		return nil, nil, refuseEntry("The ZIP archive contains no file %q. It contains: %s.", entry, listEntries(names))
	}
	return found, names, nil
}

// listEntries lists the names of files, as many as a person reads.
func listEntries(names []string) string {
	slices.Sort(names)
	listed := strings.Join(names[:min(len(names), 50)], ", ")
	if more := len(names) - 50; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	return listed
}

func refuseEntry(format string, args ...any) error {
	return feedmill.Invalid("Set entry to one file in the ZIP archive.", feedmill.Fault{Parameter: "entry", Detail: fmt.Sprintf(format, args...)})
}
