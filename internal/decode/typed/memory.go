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
)

// boundedMemory counts what buffers take. What passes the bound is a panic, which guard makes a
// refusal: arrow-go has no other way to be told.
type boundedMemory struct {
	memory.Allocator
	most int64
	held atomic.Int64
}

func newBoundedMemory(most int64) *boundedMemory {
	return &boundedMemory{Allocator: memory.NewGoAllocator(), most: most}
}

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
		panic(fmt.Sprintf("its parts take more than %d bytes of memory at the same time", m.most))
	}
}
