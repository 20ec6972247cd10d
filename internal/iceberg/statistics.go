package iceberg

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"

	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// maxStatistics is how many columns have statistics: manifests of wide tables stay small.
const maxStatistics = 100

// ReadStatistics reads the footer of a Parquet file with some columns. A file of another
// layout, as earlier releases wrote it, is a [NotConformingError].
func ReadStatistics(path string, file io.ReaderAt, size int64, columns []feedmill.Column) (Statistics, error) {
	r, err := pqfile.NewParquetReader(io.NewSectionReader(file, 0, size))
	if err != nil {
		return Statistics{}, fmt.Errorf("read the footer of %s: %w", path, err)
	}
	defer r.Close()
	m := r.MetaData()
	if m.Schema.NumColumns() != len(columns) {
		return Statistics{}, &NotConformingError{File: path, From: fmt.Sprintf("one of %d", m.Schema.NumColumns()), To: fmt.Sprintf("one of %d", len(columns))}
	}
	s := Statistics{Sizes: map[int]int64{}, Nulls: map[int]int64{}, Lower: map[int][]byte{}, Upper: map[int][]byte{}}
	for i := range m.RowGroups {
		group := m.RowGroup(i)
		s.Splits = append(s.Splits, group.FileOffset())
	}
	for i := range columns {
		c := &columns[i]
		node := m.Schema.Column(i)
		if physical := node.PhysicalType().String(); int(node.SchemaNode().FieldID()) != c.Number() || physical != physicalOf(c) {
			return Statistics{}, &NotConformingError{path, c.Name, fmt.Sprintf("%s with the field id %d", physical, node.SchemaNode().FieldID()), typeOf(c)}
		}
		if i < maxStatistics {
			s.addColumn(m, i, c)
		}
	}
	return s, nil
}

// physicalOf is the type of values in a file that the Iceberg specification prescribes.
func physicalOf(c *feedmill.Column) string {
	switch c.Type {
	case columnar.TypeDecimal:
		switch {
		case c.Precision <= 9:
			return "INT32"
		case c.Precision > columnar.NarrowDigits:
			return "FIXED_LEN_BYTE_ARRAY"
		}
	case columnar.TypeDate:
		return "INT32"
	case columnar.TypeNumber:
		return "DOUBLE"
	case columnar.TypeBoolean:
		return "BOOLEAN"
	case columnar.TypeText, columnar.TypeJSON:
		return "BYTE_ARRAY"
	}
	return "INT64"
}

// addColumn adds up what the row groups have of a column. A bound that one of them lacks is
// unknown for the file.
func (s *Statistics) addColumn(m *metadata.FileMetaData, at int, c *feedmill.Column) {
	id := c.Number()
	var size, nulls int64
	var low, high []byte
	hasLow, hasHigh := true, true
	for i := range m.RowGroups {
		chunk := m.RowGroups[i].Columns[at].MetaData
		size += chunk.TotalCompressedSize
		of := chunk.Statistics
		if of == nil || of.NullCount == nil {
			return // nothing is known of the column
		}
		nulls += *of.NullCount
		if *of.NullCount == chunk.NumValues {
			continue // which has no bounds and needs none
		}
		hasLow = hasLow && of.MinValue != nil
		hasHigh = hasHigh && of.MaxValue != nil
		if hasLow {
			if b := bound(c, of.MinValue); low == nil || compareBounds(c, b, low) < 0 {
				low = b
			}
		}
		if hasHigh {
			if b := bound(c, of.MaxValue); high == nil || compareBounds(c, b, high) > 0 {
				high = b
			}
		}
	}
	s.Sizes[id], s.Nulls[id] = size, nulls
	if hasLow && low != nil {
		s.Lower[id] = low
	}
	if hasHigh && high != nil {
		s.Upper[id] = high
	}
}

// bound is a bound of Parquet in Iceberg's form: numbers have their lowest byte first, but
// decimals the highest, and no more bytes than they need.
func bound(c *feedmill.Column, b []byte) []byte {
	if c.Type != columnar.TypeDecimal {
		return bytes.Clone(b)
	}
	switch len(b) {
	case 4:
		return shortest(binary.BigEndian.AppendUint32(nil, binary.LittleEndian.Uint32(b)))
	case 8:
		if c.Precision <= columnar.NarrowDigits {
			return shortest(binary.BigEndian.AppendUint64(nil, binary.LittleEndian.Uint64(b)))
		}
	}
	return shortest(bytes.Clone(b))
}

// shortest cuts bytes off a number in two's complement that only repeat its sign.
func shortest(b []byte) []byte {
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// compareBounds compares two bounds in Iceberg's form.
func compareBounds(c *feedmill.Column, a, b []byte) int {
	switch c.Type {
	case columnar.TypeDecimal:
		return signed(a).Cmp(signed(b))
	case columnar.TypeNumber:
		return cmp.Compare(math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case columnar.TypeDate:
		return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
	case columnar.TypeInteger, columnar.TypeTimestamp:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	}
	return bytes.Compare(a, b)
}

// signed is a number in two's complement with its highest byte first.
func signed(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}
