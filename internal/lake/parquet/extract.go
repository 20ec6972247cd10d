package parquet

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/feedmill/feedmill"
)

// ErrNoExtract is the error of a file of which no extract is made: it has no sums, or most of it
// would be read.
var ErrNoExtract = errors.New("no extract of the file is made")

const (
	// tailGuess is how many bytes at the end of a file are read first. Most footers are shorter.
	tailGuess = 64 << 10
	// maxExtract is how many bytes an extract may have, and maxFooter a footer. Both are held in memory.
	maxExtract, maxFooter = 32 << 20, 16 << 20
	// extractShare is which part of a file an extract has at most.
	extractShare = 4
)

// Extract writes the first row groups of a file, with as many rows as asked for, as a file of their
// own. It has all columns but only the values of those that are given: whoever reads another one gets
// an error, because its bytes would be behind the end. Each range is verified before it is written.
func Extract(from io.ReaderAt, size int64, sums feedmill.FileSums, columns []int, rows int64, to io.Writer) error {
	end, err := lastFooter(from, size)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(end); hex.EncodeToString(sum[:]) != sums.Footer {
		return fmt.Errorf("%w: the footer", ErrDamaged)
	}
	parts, err := summedParts(end, size)
	if err != nil {
		return err
	}
	if parts == nil {
		return fmt.Errorf("%w: it has no sums", ErrNoExtract)
	}
	read, err := metadata.NewFileMetaData(end[:int64(len(end))-tailSize], nil)
	if err != nil {
		return fmt.Errorf("read the footer: %w", err)
	}
	var groups []int
	for have := int64(0); have < rows && len(groups) < len(read.RowGroups); {
		have += read.RowGroups[len(groups)].NumRows
		groups = append(groups, len(groups))
	}
	x := extract{from: from, to: to, columns: columns, parts: parts[1:], width: read.Schema.NumColumns(), size: size}
	if bytes := x.bytes(len(groups)); bytes > maxExtract || (bytes+int64(len(end)))*extractShare > size {
		return fmt.Errorf("%w: it would have %d bytes of %d", ErrNoExtract, bytes, size)
	}
	short, err := read.Subset(groups)
	if err != nil {
		return fmt.Errorf("extract the first rows: %w", err)
	}
	if err := x.write([]byte(magic)); err != nil {
		return err
	}
	for i := range groups {
		if err := x.group(i, short); err != nil {
			return err
		}
	}
	var footer bytes.Buffer
	if _, err := short.WriteTo(&footer, nil); err != nil {
		return fmt.Errorf("extract the first rows: %w", err)
	}
	tail := binary.LittleEndian.AppendUint32(nil, uint32(footer.Len()))
	return x.write(slices.Concat(footer.Bytes(), tail, []byte(magic)))
}

// lastFooter is [footer], with one read for most files.
func lastFooter(from io.ReaderAt, size int64) ([]byte, error) {
	if size < int64(len(magic))+tailSize {
		return nil, fmt.Errorf("%w: the file has %d bytes", ErrDamaged, size)
	}
	tail := make([]byte, min(size, tailGuess))
	if _, err := from.ReadAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	last := tail[int64(len(tail))-tailSize:]
	length := int64(binary.LittleEndian.Uint32(last)) + tailSize
	switch {
	case string(last[4:]) != magic || length > size-int64(len(magic)):
		return nil, fmt.Errorf("%w: the file does not end like a Parquet file", ErrDamaged)
	case length > maxFooter:
		return nil, fmt.Errorf("%w: its footer has %d bytes", ErrNoExtract, length)
	case length <= int64(len(tail)):
		return tail[int64(len(tail))-length:], nil
	}
	end := make([]byte, length)
	before := length - int64(len(tail))
	copy(end[before:], tail)
	_, err := from.ReadAt(end[:before], size-length)
	return end, err
}

// extract writes parts of a file.
type extract struct {
	from    io.ReaderAt
	to      io.Writer
	columns []int
	// parts are the chunks of the file, and width how many there are in each group.
	parts []part
	width int
	// size is that of the file, and at how many bytes of the extract are written.
	size, at int64
}

// bytes is how many bytes the chunks of the first groups have.
func (x *extract) bytes(groups int) (bytes int64) {
	for i := range groups {
		for _, c := range x.columns {
			bytes += x.parts[i*x.width+c].size
		}
	}
	return bytes
}

func (x *extract) write(b []byte) error {
	n, err := x.to.Write(b)
	x.at += int64(n)
	return err
}

// group writes the chunks of a group, with one read for columns beside each other, and notes where
// they are now.
func (x *extract) group(i int, short *metadata.FileMetaData) error {
	begin := x.at
	for rest := x.columns; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n] == rest[n-1]+1 {
			n++
		}
		first, last := x.parts[i*x.width+rest[0]], x.parts[i*x.width+rest[n-1]]
		read := make([]byte, last.offset+last.size-first.offset)
		if _, err := x.from.ReadAt(read, first.offset); err != nil {
			return err
		}
		for _, c := range rest[:n] {
			p := x.parts[i*x.width+c]
			some := read[p.offset-first.offset:][:p.size]
			if crc32.Checksum(some, castagnoli) != p.crc {
				return fmt.Errorf("%w: %d bytes from %d on", ErrDamaged, p.size, p.offset)
			}
			move(short, i, c, x.at-p.offset)
			if err := x.write(some); err != nil {
				return err
			}
		}
		rest = rest[n:]
	}
	for c := range x.width {
		if !slices.Contains(x.columns, c) {
			move(short, i, c, x.size) // where nothing is
		}
	}
	short.RowGroups[i].FileOffset = new(begin)
	return nil
}

// move notes that a chunk is so many bytes further behind.
func move(in *metadata.FileMetaData, group, column int, by int64) {
	chunk := in.RowGroups[group].Columns[column].MetaData
	chunk.DataPageOffset += by
	if chunk.DictionaryPageOffset != nil {
		chunk.DictionaryPageOffset = new(*chunk.DictionaryPageOffset + by)
	}
}
