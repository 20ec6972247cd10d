package sheet

import (
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// compoundMark is how compound files begin.
const compoundMark = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

const (
	// lastSector is the greatest number that a sector can have. Those above it end a chain or say what
	// a sector is for.
	lastSector = 0xfffffffa
	endOfChain = 0xfffffffe
	noEntry    = 0xffffffff
	// maxEntries is how many entries of the directory are looked at.
	maxEntries = 100_000
)

// compound is a compound file: streams in a tree of folders, each a chain of sectors. Streams that are
// short are chains of small sectors in a stream of their own.
type compound struct {
	data       input.Source
	shift      uint // of the size of a sector
	smallShift uint
	cutoff     int64 // streams that are shorter are in small sectors
	next       []uint32
	smallNext  []uint32
	small      stream
	entries    []compoundEntry
}

// compoundEntry is an entry of the directory.
type compoundEntry struct {
	name               string
	kind               byte
	left, right, child uint32
	start              uint32
	size               int64
}

const (
	entryStream = 2
	entryRoot   = 5
)

func damaged(format string, args ...any) error {
	return input.Refuse("invalid-workbook", "the compound file is damaged or truncated: "+format, args...)
}

// openCompound reads the tables of a compound file.
func openCompound(data input.Source) (*compound, error) {
	head := make([]byte, 512)
	if err := input.ReadFull(data, head, 0); err != nil {
		return nil, damaged("it has only %d bytes", data.Size())
	}
	le := binary.LittleEndian
	c := &compound{data: data, shift: uint(le.Uint16(head[30:])), smallShift: uint(le.Uint16(head[32:])), cutoff: int64(le.Uint32(head[56:]))}
	if string(head[:8]) != compoundMark || c.shift != 9 && c.shift != 12 || c.smallShift != 6 || le.Uint16(head[28:]) != 0xfffe {
		return nil, damaged("its header is not valid")
	}
	if err := c.readNext(head); err != nil {
		return nil, err
	}
	if err := c.readDirectory(le.Uint32(head[48:])); err != nil {
		return nil, err
	}
	smallTable, err := c.chain(le.Uint32(head[60:]), -1)
	if err != nil {
		return nil, err
	}
	for at := int64(0); at < smallTable.size; at += 512 {
		var part [512]byte
		if err := input.ReadFull(smallTable, part[:], at); err != nil {
			return nil, damaged("the table of its small sectors is truncated")
		}
		for i := 0; i < len(part); i += 4 {
			c.smallNext = append(c.smallNext, le.Uint32(part[i:]))
		}
	}
	root := c.entries[0]
	c.small, err = c.chain(root.start, root.size)
	return c, err
}

// sectors is how many sectors the file has, of which the last may be cut.
func (c *compound) sectors() int64 {
	return (c.data.Size()+1<<c.shift-1)>>c.shift - 1
}

// readNext reads the table that says for each sector which one follows it. It is in sectors itself, of which
// the header names the first 109 and a chain of sectors the others.
func (c *compound) readNext(head []byte) error {
	le := binary.LittleEndian
	most := c.sectors()
	part := make([]byte, 1<<c.shift)
	add := func(sector uint32) error {
		if sector > lastSector {
			return nil
		}
		if int64(len(c.next)) > most {
			return nil // what is said of sectors that there are not
		}
		if err := c.readSector(sector, part); err != nil {
			return err
		}
		for i := 0; i < len(part); i += 4 {
			c.next = append(c.next, le.Uint32(part[i:]))
		}
		return nil
	}
	for i := 76; i < 512; i += 4 {
		if err := add(le.Uint32(head[i:])); err != nil {
			return err
		}
	}
	list := make([]byte, 1<<c.shift)
	seen := int64(0)
	for sector := le.Uint32(head[68:]); sector <= lastSector; seen++ {
		if seen > most {
			return damaged("the chain of its tables is a loop")
		}
		if err := c.readSector(sector, list); err != nil {
			return err
		}
		for i := 0; i < len(list)-4; i += 4 {
			if err := add(le.Uint32(list[i:])); err != nil {
				return err
			}
		}
		sector = le.Uint32(list[len(list)-4:])
	}
	return nil
}

func (c *compound) readSector(sector uint32, to []byte) error {
	if int64(sector) >= c.sectors() {
		return damaged("it refers to sector %d but has %d sectors", sector, c.sectors())
	}
	if err := input.ReadFull(c.data, to, (int64(sector)+1)<<c.shift); err != nil {
		return damaged("sector %d is truncated", sector)
	}
	return nil
}

// readDirectory reads the entries of all folders.
func (c *compound) readDirectory(start uint32) error {
	list, err := c.chain(start, -1)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	var e [128]byte
	for at := int64(0); at+128 <= list.size && len(c.entries) < maxEntries; at += 128 {
		if err := input.ReadFull(list, e[:], at); err != nil {
			return damaged("its directory is truncated")
		}
		size := int64(le.Uint64(e[120:]))
		if c.shift == 9 {
			size &= 0xffffffff // the other half is undefined
		}
		length := min(max(int(le.Uint16(e[64:]))-2, 0), 62)
		units := make([]uint16, length/2)
		for i := range units {
			units[i] = le.Uint16(e[2*i:])
		}
		c.entries = append(c.entries, compoundEntry{
			name: string(utf16.Decode(units)), kind: e[66], left: le.Uint32(e[68:]), right: le.Uint32(e[72:]), child: le.Uint32(e[76:]),
			start: le.Uint32(e[116:]), size: size,
		})
	}
	if len(c.entries) == 0 || c.entries[0].kind != entryRoot {
		return damaged("its directory has no root")
	}
	return nil
}

// find finds a stream of the uppermost folder, by its name in any case. Folders below it have streams of
// other documents, which are embedded in this one.
func (c *compound) find(name string) (compoundEntry, bool) {
	open := []uint32{c.entries[0].child}
	seen := make(map[uint32]bool)
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[at] || int64(at) >= int64(len(c.entries)) {
			continue
		}
		seen[at] = true
		e := c.entries[at]
		if e.kind == entryStream && strings.EqualFold(e.name, name) {
			return e, true
		}
		open = append(open, e.left, e.right)
	}
	return compoundEntry{}, false
}

// open opens a stream.
func (c *compound) open(e compoundEntry) (stream, error) {
	if e.size < c.cutoff {
		return c.smallChain(e.start, e.size)
	}
	return c.chain(e.start, e.size)
}

// chain follows the sectors of a stream, up to its end where the size is not known, which is -1.
func (c *compound) chain(start uint32, size int64) (stream, error) {
	return follow(c.data, c.next, start, size, c.sectors(), c.shift, func(sector uint32) (int64, bool) {
		return (int64(sector) + 1) << c.shift, int64(sector) < c.sectors()
	})
}

// smallChain is chain for the small sectors.
func (c *compound) smallChain(start uint32, size int64) (stream, error) {
	return follow(c.small, c.smallNext, start, size, c.small.size>>c.smallShift, c.smallShift, func(sector uint32) (int64, bool) {
		return int64(sector) << c.smallShift, int64(sector) < c.small.size>>c.smallShift
	})
}

func follow(data io.ReaderAt, next []uint32, start uint32, size, most int64, shift uint, place func(uint32) (int64, bool)) (stream, error) {
	s := stream{data: data}
	if size == 0 {
		return s, nil
	}
	seen := make([]uint64, most/64+1)
	for sector := start; sector != endOfChain && (size < 0 || s.size < size); {
		from, ok := place(sector)
		if !ok {
			return s, damaged("a stream refers to sector %d, but there are %d sectors", sector, most)
		}
		if seen[sector/64]&(1<<(sector%64)) != 0 {
			return s, damaged("the sectors of a stream are a loop; sector %d is repeated", sector)
		}
		seen[sector/64] |= 1 << (sector % 64)
		s.add(from, 1<<shift)
		if int64(sector) >= int64(len(next)) {
			return s, damaged("its table has no entry for the sector after %d", sector)
		}
		sector = next[sector]
		if sector == noEntry && size < 0 {
			break
		}
	}
	if size >= 0 {
		if s.size < size {
			return s, damaged("a stream of %d bytes ends after %d", size, s.size)
		}
		s.size = size
	}
	return s, nil
}
