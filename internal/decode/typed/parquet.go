package typed

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	_ "github.com/apache/arrow-go/v18/arrow/extensions" // the type of UUIDs
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/feedmill/feedmill/internal/decode/input"
)

const parquetMark = "PAR1"

// RecogniseParquet reports whether data that begins so is Parquet.
func RecogniseParquet(head []byte, _ bool) bool { return bytes.HasPrefix(head, []byte(parquetMark)) }

const (
	// maxPage is how long a page can be, as it is stored and as it is read.
	maxPage = 64 << 20
	// batchBytes is about how much is read at once, in rows of which there are at most
	// maxBatch.
	batchBytes = 8 << 20
	maxBatch   = 16_384
	// valueBytes is about what the least value takes.
	valueBytes = 2
)

// OpenParquet opens a Parquet file.
func OpenParquet(_ context.Context, data input.Source) (*Table, error) {
	footer, err := checkParquet(data)
	if err != nil {
		return nil, err
	}
	return guard("parquet", func() (*Table, error) { return openParquet(data, footer) })
}

func openParquet(data input.Source, footer []byte) (*Table, error) {
	widened := widenDeltas(footer)
	if len(widened) > 0 {
		data = &withFooter{data, footer, data.Size() - 8 - int64(len(footer))}
	}
	mem := newBoundedMemory(parquetMemory, data.Size())
	props := parquet.NewReaderProperties(mem)
	props.BufferedStreamEnabled, props.PageStreamingEnabled = true, true
	props.MaxCompressedPageSize, props.MaxUncompressedPageSize = maxPage, maxPage
	open, err := file.NewParquetReader(watched(data), file.WithReadProps(props))
	if err != nil {
		return nil, err
	}
	reader, err := pqarrow.NewFileReader(open, pqarrow.ArrowReadProperties{BatchSize: batchRows(open)}, props.Allocator())
	if err != nil {
		return nil, err
	}
	var fields []field
	for i := range reader.Manifest.Fields {
		fields = append(fields, parquetField(&reader.Manifest.Fields[i], open.MetaData().Schema))
	}
	t, err := newTable("parquet", data.Size(), fields)
	if err != nil {
		return nil, err
	}
	rows := open.NumRows()
	t.batches = func(ctx context.Context) (batchReader, error) {
		if len(fields) == 0 || rows == 0 {
			return noBatches{}, nil
		}
		mem.begin()
		records, err := reader.GetRecordReader(ctx, nil, nil)
		if err != nil {
			return nil, err
		}
		return &parquetBatches{records: records, widened: widened, left: rows}, nil
	}
	return t, nil
}

// batchRows is how many rows are about as much as is to be read at once, where they are largest.
func batchRows(open *file.Reader) int64 {
	least := int64(maxBatch)
	for i := range open.NumRowGroups() {
		group := open.MetaData().RowGroup(i)
		// However few bytes values take where they are all the same, each of them is made.
		rows := max(group.NumRows(), 1)
		bytes := max(group.TotalByteSize(), rows*valueBytes*int64(open.MetaData().Schema.NumColumns()), 1)
		least = min(least, int64(float64(batchBytes)*float64(rows)/float64(bytes)))
	}
	return max(least, 1)
}

// parquetField is a field of a file, with what only the schema of the file says of its bytes.
func parquetField(of *pqarrow.SchemaField, file *schema.Schema) field {
	f := field{Field: *of.Field}
	if extension, ok := f.Type.(arrow.ExtensionType); ok && !isUUID(f.Type) {
		f.Type = extension.StorageType()
	}
	if len(of.Children) == 0 && of.ColIndex >= 0 && of.ColIndex < file.NumColumns() {
		switch file.Column(of.ColIndex).LogicalType().(type) {
		case schema.JSONLogicalType:
			f.json = true
		case schema.EnumLogicalType:
			f.text = true
		case schema.IntervalLogicalType:
			f.period = true
		}
	}
	for i := range of.Children {
		f.children = append(f.children, parquetField(&of.Children[i], file))
	}
	if _, ok := f.Type.(*arrow.MapType); ok {
		f.children = f.children[0].children
	}
	return f
}

type noBatches struct{}

func (noBatches) next() (arrow.RecordBatch, error) { return nil, io.EOF }

func (noBatches) release() {}

// parquetBatches reads as many rows as the file says that it has.
type parquetBatches struct {
	records pqarrow.RecordReader
	widened map[int]*deltaColumn
	left    int64
}

func (b *parquetBatches) next() (arrow.RecordBatch, error) {
	if b.left == 0 {
		return nil, io.EOF
	}
	if !b.records.Next() {
		if err := b.records.Err(); err != nil && err != io.EOF {
			return nil, err
		}
		return nil, fmt.Errorf("the last %d rows are missing", b.left)
	}
	batch := b.records.RecordBatch()
	narrow(batch, b.widened)
	if b.left -= batch.NumRows(); b.left < 0 || batch.NumRows() == 0 {
		return nil, fmt.Errorf("the number of rows differs from the number in the footer")
	}
	return batch, nil
}

func (b *parquetBatches) release() { b.records.Release() }

// checkParquet looks at the frame of a file, and at its footer before anything is made of that.
func checkParquet(data input.Source) ([]byte, error) {
	const frame = int64(len(parquetMark) + 4 + len(parquetMark))
	head, tail := make([]byte, 4), make([]byte, 8)
	if data.Size() == 0 {
		return nil, input.ErrNoData
	}
	if data.Size() < frame {
		return nil, input.Refuse("invalid-parquet", "the data is not a Parquet file; it has only %d bytes", data.Size())
	}
	if err := input.ReadFull(data, head, 0); err != nil {
		return nil, err
	}
	if err := input.ReadFull(data, tail, data.Size()-8); err != nil {
		return nil, err
	}
	switch mark := string(tail[4:]); {
	case string(head) == "PARE" || mark == "PARE":
		return nil, input.Refuse("encrypted-parquet", "the Parquet file is encrypted; write it without encryption")
	case string(head) != parquetMark:
		return nil, input.Refuse("invalid-parquet", "the data is not a Parquet file; it starts with %q instead of %s", head, parquetMark)
	case mark != parquetMark:
		return nil, input.Refuse("truncated-data", "the Parquet file has no footer; it is truncated after %d bytes", data.Size())
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	if size > data.Size()-frame {
		return nil, input.Refuse("invalid-parquet", "the footer of the Parquet file declares %d bytes, but the file has only %d", size, data.Size())
	}
	if size > maxFooter {
		return nil, input.Refuse("invalid-parquet", "the footer of the Parquet file has %d bytes; the maximum is %d. Write fewer row groups or columns", size, maxFooter)
	}
	footer := make([]byte, size)
	if err := input.ReadFull(data, footer, data.Size()-8-size); err != nil {
		return nil, err
	}
	return footer, checkFooter(footer)
}
