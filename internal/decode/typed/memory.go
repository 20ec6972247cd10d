package typed

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// The memory that the buffers of one table can take together. Of Parquet a page of each column is
// held, and of Arrow a batch, as it is stored and as it is read. Tests make them less.
var (
	parquetMemory int64 = 256 << 20
	arrowMemory   int64 = 2 * maxBody
	leastMemory   int64 = 64 << 20
)

const (
	// memoryOfByte is how much memory each byte of the data can take beyond leastMemory: a few bytes
	// that claim to stand for hundreds of megabytes are not believed.
	memoryOfByte = 64
	// leastBuffers is how many bytes all buffers of one reading can have after one another, besides
	// buffersOfByte for each byte of the data. Dictionaries that grow with each batch are copied as often.
	leastBuffers  = 2 << 30
	buffersOfByte = 256
)

// boundedMemory counts what buffers take. What passes the bound is a panic, which guard makes a
// refusal: arrow-go has no other way to be told.
type boundedMemory struct {
	memory.Allocator
	most, mostMade int64
	held, made     atomic.Int64
}

// newBoundedMemory is for data of so many bytes.
func newBoundedMemory(most, size int64) *boundedMemory {
	return &boundedMemory{
		Allocator: memory.NewGoAllocator(),
		most:      min(most, leastMemory+memoryOfByte*size), mostMade: leastBuffers + buffersOfByte*size,
	}
}

// begin counts the buffers of another reading.
func (m *boundedMemory) begin() { m.made.Store(0) }

func (m *boundedMemory) Allocate(size int) []byte {
	m.reserve(size, 0)
	return m.Allocator.Allocate(size)
}

func (m *boundedMemory) Reallocate(size int, b []byte) []byte {
	m.reserve(size, len(b))
	return m.Allocator.Reallocate(size, b)
}

func (m *boundedMemory) Free(b []byte) {
	m.held.Add(-int64(len(b)))
	m.Allocator.Free(b)
}

// reserve counts a buffer of a size that takes the place of another.
func (m *boundedMemory) reserve(size, before int) {
	if size < 0 || m.held.Add(int64(size-before)) > m.most {
		panic(fmt.Sprintf("its parts require more than %d bytes of memory, the maximum; write smaller batches or pages", m.most))
	}
	if m.made.Add(int64(max(size-before, 0))) > m.mostMade {
		panic(fmt.Sprintf("its parts have more than %d bytes in total, the maximum for data of its size", m.mostMade))
	}
}
