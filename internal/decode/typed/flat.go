package typed

import "errors"

// flatText is a text in the format of FlatBuffers, up to the first fault.
type flatText struct {
	text  []byte
	fault error
	// room is how many bytes of names and the like can be made of it. Each can be named any number
	// of times, and a copy is made each time.
	room int
}

func flat(text []byte) *flatText { return &flatText{text: text, room: 1<<20 + 16*len(text)} }

var (
	errFlat  = errors.New("an offset or a count is out of range")
	errSpent = errors.New("its parts are referenced too often")
)

func (f *flatText) spend(bytes int) {
	if f.room -= bytes; f.room < 0 {
		f.fail(errSpent)
	}
}

func (f *flatText) fail(err error) {
	if f.fault == nil {
		f.fault = err
	}
}

// word reads so many bytes as a number; it is 0 where they are not there.
func (f *flatText) word(at, bytes int) (n uint64) {
	if at < 0 || at > len(f.text)-bytes {
		f.fail(errFlat)
		return 0
	}
	for i := bytes - 1; i >= 0; i-- {
		n = n<<8 | uint64(f.text[at+i])
	}
	return n
}

func (f *flatText) root() flatTable { return flatTable{f, int(f.word(0, 4))} }

// flatTable is a table, of which 0 is none.
type flatTable struct {
	of *flatText
	at int
}

// field is where a field of a table is, or 0.
func (t flatTable) field(i int) int {
	if t.at == 0 {
		return 0
	}
	fields := t.at - int(int32(t.of.word(t.at, 4)))
	if size := int(t.of.word(fields, 2)); 4+2*i+2 > size {
		return 0
	}
	if offset := int(t.of.word(fields+4+2*i, 2)); offset > 0 {
		return t.at + offset
	}
	return 0
}

func (t flatTable) byte(i int) byte {
	if at := t.field(i); at > 0 {
		return byte(t.of.word(at, 1))
	}
	return 0
}

func (t flatTable) long(i int) int64 {
	if at := t.field(i); at > 0 {
		return int64(t.of.word(at, 8))
	}
	return 0
}

func (t flatTable) table(i int) flatTable {
	if at := t.field(i); at > 0 {
		return flatTable{t.of, at + int(t.of.word(at, 4))}
	}
	return flatTable{t.of, 0}
}

// vector is the list of a field, whose elements have so many bytes.
func (t flatTable) vector(i, bytes int) flatVector {
	at := t.field(i)
	if at == 0 {
		return flatVector{of: t.of}
	}
	at += int(t.of.word(at, 4))
	n := int(t.of.word(at, 4))
	if n > (len(t.of.text)-at)/bytes {
		t.of.fail(errFlat)
		n = 0
	}
	return flatVector{t.of, at + 4, n}
}

// text goes over a text.
func (t flatTable) text(i int) { t.of.spend(t.vector(i, 1).n) }

// pairs goes over a list of names and values.
func (t flatTable) pairs(i int) {
	pairs := t.vector(i, 4)
	for k := range pairs.n {
		if t.of.fault != nil {
			return
		}
		pair := pairs.table(k)
		pair.text(0)
		pair.text(1)
		t.of.spend(pairBytes)
	}
}

// pairBytes is what the heads of a name and its value take.
const pairBytes = 32

type flatVector struct {
	of *flatText
	at int
	n  int
}

func (v flatVector) table(i int) flatTable {
	at := v.at + 4*i
	return flatTable{v.of, at + int(v.of.word(at, 4))}
}

// word is the number of 8 bytes at a place in an element.
func (v flatVector) word(i, bytes, at int) int64 { return int64(v.of.word(v.at+bytes*i+at, 8)) }
