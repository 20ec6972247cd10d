package sheet

import "encoding/binary"

// biffText reads a record and all that continue it as one. The characters of a text may go on in the next
// record, which then begins with a byte that says anew how wide they are.
type biffText struct {
	*biffReader
	rest []byte
}

// text reads the record that was read from a place on.
func (r *biffReader) text(from int) (biffText, error) {
	if len(r.data) < from {
		return biffText{}, r.wrong("the record is too short")
	}
	return biffText{r, r.data[from:]}, nil
}

// nextRecord goes on to the next record where there is nothing left of this one.
func (t *biffText) nextRecord() error {
	for len(t.rest) == 0 {
		if !t.continues() {
			return t.wrong("the record ends within a text")
		}
		id := t.id
		if !t.next() {
			return t.err
		}
		t.id, t.rest = id, t.data
	}
	return nil
}

// bytes fills p.
func (t *biffText) bytes(p []byte) error {
	for len(p) > 0 {
		if err := t.nextRecord(); err != nil {
			return err
		}
		n := copy(p, t.rest)
		p, t.rest = p[n:], t.rest[n:]
	}
	return nil
}

func (t *biffText) uint16() (uint16, error) {
	var b [2]byte
	err := t.bytes(b[:])
	return binary.LittleEndian.Uint16(b[:]), err
}

func (t *biffText) uint32() (uint32, error) {
	var b [4]byte
	err := t.bytes(b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// skip leaves out bytes.
func (t *biffText) skip(n int64) error {
	for n > 0 {
		if err := t.nextRecord(); err != nil {
			return err
		}
		part := min(n, int64(len(t.rest)))
		t.rest, n = t.rest[part:], n-part
	}
	return nil
}

// characters appends so many characters, before which stands how wide they are.
func (t *biffText) characters(to []byte, count int) ([]byte, error) {
	var flags [1]byte
	if err := t.bytes(flags[:]); err != nil {
		return to, err
	}
	return t.appendPieces(to, count, flags[0]&1 != 0)
}

// appendPieces appends the characters of a text, whose pieces can differ in how wide they are.
func (t *biffText) appendPieces(to []byte, count int, wide bool) ([]byte, error) {
	for count > 0 {
		if len(t.rest) == 0 {
			if err := t.nextRecord(); err != nil {
				return to, err
			}
			wide = t.rest[0]&1 != 0
			t.rest = t.rest[1:]
			continue
		}
		width := 1
		if wide {
			width = 2
		}
		n := min(count*width, len(t.rest)/width*width)
		if n == 0 {
			return to, t.wrong("a character is cut in two")
		}
		to = appendCharacters(to, t.rest[:n], wide)
		t.rest, count = t.rest[n:], count-n/width
	}
	return to, nil
}

// rich appends a text with its length before it, and leaves out its formats and how it is pronounced.
func (t *biffText) rich(to []byte) ([]byte, error) {
	count, err := t.uint16()
	if err != nil {
		return to, err
	}
	var flags [1]byte
	if err := t.bytes(flags[:]); err != nil {
		return to, err
	}
	var behind int64
	if flags[0]&8 != 0 {
		runs, err := t.uint16()
		if err != nil {
			return to, err
		}
		behind = 4 * int64(runs)
	}
	if flags[0]&4 != 0 {
		phonetic, err := t.uint32()
		if err != nil {
			return to, err
		}
		behind += int64(phonetic)
	}
	if to, err = t.appendPieces(to, int(count), flags[0]&1 != 0); err != nil {
		return to, err
	}
	return to, t.skip(behind)
}

// readSST reads the shared texts, whose record was read.
func (r *biffReader) readSST(size int64) (*stringTable, error) {
	t, err := r.text(8)
	if err != nil {
		return nil, err
	}
	table := new(stringTable)
	count := binary.LittleEndian.Uint32(r.data[4:])
	for range count {
		if table.texts, err = t.rich(table.texts); err != nil {
			return nil, err
		}
		table.ends = append(table.ends, uint32(len(table.texts)))
		if err := table.check(size); err != nil {
			return nil, err
		}
	}
	return table, nil
}
