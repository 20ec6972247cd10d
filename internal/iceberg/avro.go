package iceberg

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
)

// avro encodes values in Avro's binary form.
type avro struct{ buf []byte }

// long appends an integer. Avro's int has the same form.
func (a *avro) long(n int64) { a.buf = binary.AppendVarint(a.buf, n) }

func (a *avro) text(s string) {
	a.long(int64(len(s)))
	a.buf = append(a.buf, s...)
}

// some begins the value of a union of null and another type, and null is its first type.
func (a *avro) some() { a.long(1) }
func (a *avro) null() { a.long(0) }

// list begins a list of n elements in one block, and end ends it.
func (a *avro) list(n int) {
	if n > 0 {
		a.long(int64(n))
	}
}
func (a *avro) end() { a.long(0) }

// property is an entry of the metadata of an Avro file.
type property struct{ key, value string }

const avroMagic = "Obj\x01"

// container is an Avro file with some records, which are encoded one after the other.
func container(schema string, properties []property, records int, encoded []byte) []byte {
	properties = append([]property{{"avro.schema", schema}, {"avro.codec", "null"}}, properties...)
	a := avro{buf: []byte(avroMagic)}
	a.list(len(properties))
	for _, p := range properties {
		a.text(p.key)
		a.text(p.value)
	}
	a.end()
	// The same content has the same bytes, so the marker between blocks depends on it alone.
	sum := sha256.Sum256(encoded)
	a.buf = append(a.buf, sum[:16]...)
	if records > 0 {
		a.long(int64(records))
		a.long(int64(len(encoded)))
		a.buf = append(a.buf, encoded...)
		a.buf = append(a.buf, sum[:16]...)
	}
	return a.buf
}

// errAvro is the fault of a file that [container] did not write.
var errAvro = errors.New("not an Avro file of this package")

// avroReader decodes what avro has encoded. After a fault it returns zero values.
type avroReader struct {
	rest   []byte
	failed bool
}

func (r *avroReader) long() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *avroReader) bytes() []byte {
	n := r.long()
	if n < 0 || n > int64(len(r.rest)) {
		r.failed, r.rest = true, nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// optional reports whether a union of null and another type has a value.
func (r *avroReader) optional() bool { return r.long() == 1 }

// each calls read for every element of a list.
func (r *avroReader) each(read func()) {
	for n := r.long(); n > 0 && !r.failed; n = r.long() {
		for ; n > 0 && !r.failed; n-- {
			read()
		}
	}
}

// records calls read for every record of a container, and returns its properties.
func records(file []byte, read func(*avroReader)) (map[string]string, error) {
	if len(file) < len(avroMagic) || string(file[:len(avroMagic)]) != avroMagic {
		return nil, errAvro
	}
	r := &avroReader{rest: file[len(avroMagic):]}
	properties := make(map[string]string)
	r.each(func() {
		key := string(r.bytes())
		properties[key] = string(r.bytes())
	})
	if len(r.rest) < 16 {
		return nil, errAvro
	}
	r.rest = r.rest[16:]
	if len(r.rest) == 0 {
		return properties, nil
	}
	n, size := r.long(), r.long()
	if r.failed || n < 0 || n > math.MaxInt32 || size != int64(len(r.rest))-16 {
		return nil, errAvro
	}
	for ; n > 0 && !r.failed; n-- {
		read(r)
	}
	if r.failed || len(r.rest) != 16 {
		return nil, errAvro
	}
	return properties, nil
}
