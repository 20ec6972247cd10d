package parquet

import (
	"slices"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/columnar"
)

// piece is a run of rows of a block.
type piece struct {
	block    []columnar.Vector
	from, to int
}

// wideColumns is from how many columns on a null counts for less than a value in
// the size of a row group. Tables of so many columns are mostly empty, and would be
// cut into groups of a few rows, each with a description of every column.
const (
	wideColumns = 256
	wideNull    = 2
)

// bytes estimates how much memory rows of the block hold from one row to another.
// It depends on the rows alone, and not on the blocks in which they come.
func (p piece) bytes() int {
	n := 0
	wide := len(p.block) > wideColumns
	for i := range p.block {
		v := &p.block[i]
		values := p.to - p.from
		if wide && v.Valid != nil {
			values = countBits(v.Valid, p.from, p.to)
			n += wideNull * (p.to - p.from - values)
		}
		switch {
		case v.Offsets != nil:
			n += 4*values + int(v.Offsets[p.to]-v.Offsets[p.from])
		case v.Wide != nil:
			n += 16 * values
		default:
			n += 8 * values
		}
	}
	return n
}

// scratch holds the values of one column of a row group, null ones left out.
// It is used again for the next column.
type scratch struct {
	rows int
	// valid has a bit for each row, or is nil where no value is null.
	valid []uint64
	count int // values that are not null

	ints   []int64
	floats []float64
	wide   []columnar.Int128
	// pieces and column are where the values of a text column are. Where there is no
	// dictionary, texts has all of them, one behind the other, and starts says where each
	// begins, with one entry more.
	pieces []piece
	column int
	texts  []byte
	starts []uint32

	own struct {
		valid  []uint64
		ints   []int64
		floats []float64
		wide   []columnar.Int128
		texts  []byte
	}
}

// gather takes column c of the pieces.
func (s *scratch) gather(pieces []piece, c int) {
	s.gatherValid(pieces, c)
	alone := len(pieces) == 1 && s.valid == nil
	switch first := &pieces[0].block[c]; {
	case first.Offsets != nil:
		s.pieces, s.column = pieces, c
	case first.Wide != nil:
		s.wide = dense(&s.own.wide, pieces, c, alone, func(v *columnar.Vector) []columnar.Int128 { return v.Wide })
	case first.Floats != nil:
		s.floats = dense(&s.own.floats, pieces, c, alone, func(v *columnar.Vector) []float64 { return v.Floats })
	default:
		s.ints = dense(&s.own.ints, pieces, c, alone, func(v *columnar.Vector) []int64 { return v.Ints })
	}
}

func (s *scratch) gatherValid(pieces []piece, c int) {
	s.rows, s.count, s.valid = 0, 0, nil
	nulls := false
	for _, p := range pieces {
		n := p.to - p.from
		s.rows += n
		if v := &p.block[c]; v.Valid != nil {
			there := countBits(v.Valid, p.from, p.to)
			nulls = nulls || there != n
			s.count += there
		} else {
			s.count += n
		}
	}
	if !nulls {
		return
	}
	words := (s.rows + 63) / 64
	if cap(s.own.valid) < words {
		s.own.valid = make([]uint64, words)
	}
	s.valid = s.own.valid[:words]
	clear(s.valid)
	at := 0
	for _, p := range pieces {
		copyBits(s.valid, at, p.block[c].Valid, p.from, p.to)
		at += p.to - p.from
	}
}

// copyBits sets the bits of dst from at on where those of src are set; no src
// means that all are. The bits of dst are clear before.
func copyBits(dst []uint64, at int, src []uint64, from, to int) {
	for from < to {
		take := min(64-at&63, to-from)
		word := ^uint64(0)
		if src != nil {
			take = min(take, 64-from&63)
			word = src[from>>6] >> (from & 63)
		}
		if take < 64 {
			word &= 1<<take - 1
		}
		dst[at>>6] |= word << (at & 63)
		at += take
		from += take
	}
}

// dense gives the values of a column that are not null: those of the vector
// itself where there is only one and no null, else copies in own.
func dense[T any](own *[]T, pieces []piece, c int, alone bool, of func(*columnar.Vector) []T) []T {
	if alone {
		return of(&pieces[0].block[c])[pieces[0].from:pieces[0].to]
	}
	values := (*own)[:0]
	for _, p := range pieces {
		v := &p.block[c]
		from := of(v)[:p.to]
		if v.Valid == nil {
			values = append(values, from[p.from:]...)
			continue
		}
		for i := p.from; i < p.to; i++ {
			if v.Valid[i>>6]&(1<<(i&63)) != 0 {
				values = append(values, from[i])
			}
		}
	}
	*own = values
	return values
}

// release lets go of what was gathered, which may be the memory of a block.
func (s *scratch) release() {
	s.ints, s.floats, s.wide, s.pieces, s.texts = nil, nil, nil, nil, nil
}

// eachText yields the values of a text column.
func (s *scratch) eachText(yield func(text []byte) bool) {
	for _, p := range s.pieces {
		v := &p.block[s.column]
		begin := v.Offsets[p.from]
		for i := p.from; i < p.to; i++ {
			end := v.Offsets[i+1]
			if (v.Valid == nil || v.Valid[i>>6]&(1<<(i&63)) != 0) && !yield(v.Bytes[begin:end]) {
				return
			}
			begin = end
		}
	}
}

// gatherTexts fills texts and starts, and reports whether all are UTF-8. The texts of one
// piece without nulls are not copied.
func (s *scratch) gatherTexts() bool {
	size := 0
	for _, p := range s.pieces {
		if !validTexts(&p.block[s.column], p.from, p.to) {
			return false
		}
		offsets := p.block[s.column].Offsets
		size += int(offsets[p.to] - offsets[p.from])
	}
	starts := slices.Grow(s.starts[:0], s.count+1)
	if p := s.pieces[0]; len(s.pieces) == 1 && s.valid == nil {
		offsets := p.block[s.column].Offsets[p.from : p.to+1]
		for _, begin := range offsets {
			starts = append(starts, begin-offsets[0])
		}
		s.texts, s.starts = p.block[s.column].Bytes[offsets[0]:][:size], starts
		return true
	}
	texts := slices.Grow(s.own.texts[:0], size)
	for _, p := range s.pieces {
		v := &p.block[s.column]
		offsets := v.Offsets[p.from : p.to+1]
		if v.Valid == nil {
			moved := uint32(len(texts)) - offsets[0]
			for _, begin := range offsets[:len(offsets)-1] {
				starts = append(starts, begin+moved)
			}
			texts = append(texts, v.Bytes[offsets[0]:offsets[len(offsets)-1]]...)
			continue
		}
		for i := p.from; i < p.to; i++ {
			if v.Valid[i>>6]&(1<<(i&63)) != 0 {
				starts = append(starts, uint32(len(texts)))
				texts = append(texts, v.Bytes[v.Offsets[i]:v.Offsets[i+1]]...)
			}
		}
	}
	s.own.texts, s.texts, s.starts = texts, texts, append(starts, uint32(len(texts)))
	return true
}

// validTexts reports whether the texts of rows are UTF-8: all of them together
// are, and none begins inside a character.
func validTexts(v *columnar.Vector, from, to int) bool {
	all := v.Bytes[:v.Offsets[to]]
	if !utf8.Valid(all[v.Offsets[from]:]) {
		return false
	}
	for _, start := range v.Offsets[from:to] {
		if int(start) < len(all) && !utf8.RuneStart(all[start]) {
			return false
		}
	}
	return true
}

// text is value i of those that were gathered.
func (s *scratch) text(i int) []byte { return s.texts[s.starts[i]:s.starts[i+1]] }
