package typed

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// writeList writes the elements of a list.
func writeList(element writer) writer {
	return func(to []byte, values arrow.Array, at int, _ bool) []byte {
		list := values.(array.ListLike)
		from, end := list.ValueOffsets(at)
		to = append(to, '[')
		for k := from; k < end; k++ {
			if k > from {
				to = append(to, ',')
			}
			to = element(to, list.ListValues(), int(k), true)
		}
		return append(to, ']')
	}
}

// writeStruct writes an object with all members that a struct can have.
func writeStruct(fields []field, members []writer) writer {
	names := make([][]byte, len(fields))
	for i, f := range fields {
		names[i] = append(appendQuoted(nil, f.Name), ':')
	}
	return func(to []byte, values arrow.Array, at int, _ bool) []byte {
		object := values.(*array.Struct)
		to = append(to, '{')
		for i, member := range members {
			if i > 0 {
				to = append(to, ',')
			}
			to = member(append(to, names[i]...), object.Field(i), at, true)
		}
		return append(to, '}')
	}
}

// writeMap writes an object where the keys are texts or numbers, and else an array of pairs.
func writeMap(key, value writer, keyType arrow.DataType) writer {
	_, nested := keyType.(arrow.NestedType)
	return func(to []byte, values arrow.Array, at int, _ bool) []byte {
		m := values.(*array.Map)
		from, end := m.ValueOffsets(at)
		opening, closing := byte('{'), byte('}')
		if nested {
			opening, closing = '[', ']'
		}
		to = append(to, opening)
		for k := from; k < end; k++ {
			if k > from {
				to = append(to, ',')
			}
			if nested {
				to = append(key(append(to, `{"key":`...), m.Keys(), int(k), true), `,"value":`...)
				to = append(value(to, m.Items(), int(k), true), '}')
				continue
			}
			to = append(appendQuoted(to, string(key(nil, m.Keys(), int(k), false))), ':')
			to = value(to, m.Items(), int(k), true)
		}
		return append(to, closing)
	}
}

// writeDecimal writes a decimal with all its digits.
func writeDecimal(scale int32) writer {
	return func(to []byte, values arrow.Array, at int, _ bool) []byte {
		switch values := values.(type) {
		case *array.Decimal32:
			return append(to, values.Value(at).ToString(scale)...)
		case *array.Decimal64:
			return append(to, values.Value(at).ToString(scale)...)
		case *array.Decimal128:
			return append(to, values.Value(at).ToString(scale)...)
		case *array.Decimal256:
			return append(to, values.Value(at).ToString(scale)...)
		}
		return strconv.AppendInt(to, 0, 10)
	}
}
