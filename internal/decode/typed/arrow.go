package typed

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// arrowMark is how an Arrow file begins, and continuation how a message of a stream does.
const (
	arrowMark    = "ARROW1\x00\x00"
	continuation = "\xff\xff\xff\xff"
)

// RecogniseArrow reports whether data that begins so is an Arrow file or stream.
func RecogniseArrow(head []byte, _ bool) bool {
	return bytes.HasPrefix(head, []byte(arrowMark)) || bytes.HasPrefix(head, []byte(continuation))
}

const (
	// maxMetadata is how long what is said of a batch can be, and maxBody how long the batch
	// itself, as it is stored and as it is read.
	maxMetadata = 16 << 20
	maxBody     = 256 << 20
)

// OpenArrow opens an Arrow stream or file.
func OpenArrow(_ context.Context, data input.Source) (*Table, error) {
	if data.Size() == 0 {
		return nil, input.ErrNoData
	}
	head := make([]byte, min(data.Size(), int64(len(arrowMark))))
	if err := input.ReadFull(data, head, 0); err != nil {
		return nil, err
	}
	if string(head) == arrowMark {
		if err := checkArrowFooter(data); err != nil {
			return nil, err
		}
		return guard("arrow", func() (*Table, error) { return openArrowFile(data) })
	}
	if !bytes.HasPrefix(head, []byte(continuation)) {
		return nil, input.Refuse("invalid-arrow", "the data is not an Arrow file or stream; it starts with %q", head)
	}
	if err := checkMessages(data, 0, data.Size()); err != nil {
		return nil, err
	}
	return guard("arrow", func() (*Table, error) { return openArrowStream(data) })
}

// bounded are the options of a reader that believes in no more bytes than there are.
func bounded(data input.Source, mem *boundedMemory) []ipc.Option {
	return []ipc.Option{
		ipc.WithAllocator(mem),
		ipc.WithMetadataSizeLimit(min(data.Size(), maxMetadata)), ipc.WithBodySizeLimit(min(data.Size(), maxBody)),
	}
}

func openArrowStream(data input.Source) (*Table, error) {
	open := func() (*ipc.Reader, error) {
		return ipc.NewReader(watched(data), bounded(data, newBoundedMemory(arrowMemory, data.Size()))...)
	}
	first, err := open()
	if err != nil {
		return nil, err
	}
	defer first.Release()
	t, err := newTable("arrow", data.Size(), arrowFields(first.Schema()))
	if err != nil {
		return nil, err
	}
	t.batches = func(context.Context) (batchReader, error) {
		reader, err := open()
		return streamBatches{reader}, err
	}
	end := make([]byte, 8)
	if data.Size() < 8 || input.ReadFull(data, end, data.Size()-8) != nil || string(end) != continuation+"\x00\x00\x00\x00" {
		t.noted = append(t.noted, feedmill.Warning{
			Code: feedmill.WarnNoEnd, Count: 1, Detail: "The Arrow stream has no end marker. Rows are missing if its writer was interrupted. Close the writer at the source to write the marker.",
		})
	}
	return t, nil
}

func openArrowFile(data input.Source) (*Table, error) {
	mem := newBoundedMemory(arrowMemory, data.Size())
	reader, err := ipc.NewFileReader(watched(data), bounded(data, mem)...)
	if err != nil {
		return nil, err
	}
	t, err := newTable("arrow", data.Size(), arrowFields(reader.Schema()))
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	t.close = reader.Close
	t.batches = func(context.Context) (batchReader, error) {
		mem.begin()
		return &fileBatches{reader: reader}, nil
	}
	return t, nil
}

func arrowFields(schema *arrow.Schema) (fields []field) {
	for _, f := range schema.Fields() {
		fields = append(fields, newField(f))
	}
	return fields
}

type streamBatches struct{ reader *ipc.Reader }

func (b streamBatches) next() (arrow.RecordBatch, error) {
	if b.reader.Next() {
		return b.reader.RecordBatch(), nil
	}
	if err := b.reader.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

func (b streamBatches) release() { b.reader.Release() }

type fileBatches struct {
	reader *ipc.FileReader
	read   int
	last   arrow.RecordBatch
}

func (b *fileBatches) next() (arrow.RecordBatch, error) {
	b.release()
	if b.read == b.reader.NumRecords() {
		return nil, io.EOF
	}
	batch, err := b.reader.RecordBatchAt(b.read)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	b.read++
	b.last = batch
	return batch, err
}

func (b *fileBatches) release() {
	if b.last != nil {
		b.last.Release()
		b.last = nil
	}
}
