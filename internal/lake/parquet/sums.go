package parquet

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/feedmill/feedmill"
)

// sumsKey is the key of the footer's metadata whose value has the CRC-32C of each column
// chunk in the order of the file, four bytes each with the lowest first, in base64.
const sumsKey = "feedmill.crc32c"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeSums(groups []rowGroup) string {
	var sums []byte
	for i := range groups {
		for j := range groups[i].chunks {
			sums = binary.LittleEndian.AppendUint32(sums, groups[i].chunks[j].crc)
		}
	}
	return base64.StdEncoding.EncodeToString(sums)
}

// ErrDamaged is the error of a file whose bytes are not those that were written.
var ErrDamaged = errors.New("the file is damaged")

// tailSize is how many bytes follow the metadata: its length and the magic bytes.
const tailSize = 4 + int64(len(magic))

// footer reads the footer: the metadata, its length and the magic bytes.
func footer(file io.ReaderAt, size int64) ([]byte, error) {
	var tail [tailSize]byte
	if size < int64(len(magic))+tailSize {
		return nil, fmt.Errorf("%w: the file has %d bytes", ErrDamaged, size)
	}
	if _, err := file.ReadAt(tail[:], size-tailSize); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != magic || length > size-tailSize-int64(len(magic)) {
		return nil, fmt.Errorf("%w: the file does not end like a Parquet file", ErrDamaged)
	}
	read := make([]byte, length+tailSize)
	_, err := file.ReadAt(read, size-int64(len(read)))
	return read, err
}

// Sum reads a whole file and returns its sums. The reader can limit its pace.
func Sum(file io.ReaderAt, size int64, whole io.Reader) (feedmill.FileSums, error) {
	end, err := footer(file, size)
	if err != nil {
		return feedmill.FileSums{}, err
	}
	hash := sha256.New()
	if _, err := io.CopyBuffer(hash, whole, make([]byte, 1<<20)); err != nil {
		return feedmill.FileSums{}, err
	}
	sum := sha256.Sum256(end)
	return feedmill.FileSums{SHA256: hex.EncodeToString(hash.Sum(nil)), Footer: hex.EncodeToString(sum[:])}, nil
}

// Verify reads a whole file and returns [ErrDamaged] where it does not match its sums. The
// sums of the column chunks are several times faster than that of the file, and the sum of
// the footer covers them. Files of other writers have none: their SHA-256 is computed.
func Verify(file io.ReaderAt, size int64, sums feedmill.FileSums) error {
	end, err := footer(file, size)
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
		got, err := Sum(file, size, io.NewSectionReader(file, 0, size))
		if err == nil && got != sums {
			err = ErrDamaged
		}
		return err
	}
	return verifyParts(file, parts)
}

// part is bytes of a file with their CRC-32C.
type part struct {
	offset, size int64
	crc          uint32
}

// summedParts are the parts of a file before its footer, nil where the footer does not have
// sums of all of them.
func summedParts(end []byte, size int64) ([]part, error) {
	read, err := metadata.NewFileMetaData(end[:int64(len(end))-tailSize], nil)
	if err != nil {
		return nil, fmt.Errorf("read the footer: %w", err)
	}
	value := read.KeyValueMetadata().FindValue(sumsKey)
	if value == nil {
		return nil, nil
	}
	crcs, err := base64.StdEncoding.DecodeString(*value)
	if err != nil || len(crcs) != 4*read.NumRowGroups()*read.Schema.NumColumns() {
		return nil, nil
	}
	parts := []part{{0, int64(len(magic)), crc32.Checksum([]byte(magic), castagnoli)}}
	for i := range read.NumRowGroups() {
		group := read.RowGroup(i)
		for j := range group.NumColumns() {
			chunk, err := group.ColumnChunk(j)
			if err != nil {
				return nil, fmt.Errorf("read the footer: %w", err)
			}
			begin := chunk.DataPageOffset()
			if chunk.HasDictionaryPage() {
				begin = chunk.DictionaryPageOffset()
			}
			last := parts[len(parts)-1]
			if begin != last.offset+last.size {
				return nil, nil
			}
			parts = append(parts, part{begin, chunk.TotalCompressedSize(), binary.LittleEndian.Uint32(crcs)})
			crcs = crcs[4:]
		}
	}
	if last := parts[len(parts)-1]; last.offset+last.size != size-int64(len(end)) {
		return nil, nil
	}
	return parts, nil
}

// verifyParts verifies the parts of a file, on all processors.
func verifyParts(file io.ReaderAt, parts []part) error {
	var next atomic.Int64
	var wrong atomic.Pointer[error]
	var verifiers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) {
		verifiers.Go(func() {
			buf := make([]byte, 256<<10)
			for wrong.Load() == nil {
				at := int(next.Add(1)) - 1
				if at >= len(parts) {
					return
				}
				if err := parts[at].verify(file, buf); err != nil {
					wrong.Store(&err)
				}
			}
		})
	}
	verifiers.Wait()
	if err := wrong.Load(); err != nil {
		return *err
	}
	return nil
}

func (p part) verify(file io.ReaderAt, buf []byte) error {
	crc := uint32(0)
	for at := int64(0); at < p.size; {
		some := buf[:min(int64(len(buf)), p.size-at)]
		if _, err := file.ReadAt(some, p.offset+at); err != nil {
			return err
		}
		crc = crc32.Update(crc, castagnoli, some)
		at += int64(len(some))
	}
	if crc != p.crc {
		return fmt.Errorf("%w: %d bytes from %d on", ErrDamaged, p.size, p.offset)
	}
	return nil
}
