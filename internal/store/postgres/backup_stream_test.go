package postgres

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// TestRecordStream holds that rows are read as they were written, also those that are longer than
// a chunk, and that records that end too early are an error wherever they end.
func TestRecordStream(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcde\n"), 3*maxChunk/16+1)
	tables := map[string][]byte{"first": long, "second": nil, "third": []byte("1\t2\n")}
	names := []string{"first", "second", "third"}
	var stream bytes.Buffer
	w := newRecordWriter(&stream)
	err := w.head(savedHead{Sequences: map[string]int64{"s": 7}})
	for _, name := range names {
		err = errors.Join(err, w.begin(savedTable{Table: name, Columns: []string{"a", `b"c`}}))
		_, failed := w.Write(tables[name])
		err = errors.Join(err, failed, w.end())
	}
	if err = errors.Join(err, w.close()); err != nil {
		t.Fatal(err)
	}
	read := func(from []byte) error {
		r := newRecordReader(bytes.NewReader(from))
		var head savedHead
		if err := r.line(&head); err != nil {
			return err
		}
		if head.Sequences["s"] != 7 {
			t.Errorf("the head is %+v", head)
		}
		for i := 0; ; i++ {
			table, err := r.begin()
			if err != nil {
				return err
			}
			if table.Table == "" {
				if i != len(names) {
					t.Errorf("%d tables were read", i)
				}
				return nil
			}
			rows, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			if table.Table != names[i] || table.columns() != `"a", "b""c"` || !bytes.Equal(rows, tables[table.Table]) {
				t.Errorf("table %s has %d bytes and the columns %s", table.Table, len(rows), table.columns())
			}
		}
	}
	whole := stream.Bytes()
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 5, 30, maxChunk, 2 * maxChunk, len(long), len(whole) - 40, len(whole) - 14, len(whole) - 1} {
		if err := read(whole[:cut]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("of %d bytes, %d: %v", len(whole), cut, err)
		}
	}
}
