package database

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/feedmill/feedmill/internal/columnar"
)

// rowSpool holds rows in memory, and those that are too many for that in a file that is gone
// with this process.
type rowSpool struct {
	folder string
	held   [][]columnar.Vector
	bytes  int

	file *os.File
	out  *bufio.Writer
	to   *gob.Encoder
}

// spoolMemory is how many bytes of rows are held in memory.
const spoolMemory = 8 << 20

// add holds some rows.
func (s *rowSpool) add(run []columnar.Vector) error {
	if s.file == nil {
		s.held = append(s.held, run)
		for i := range run {
			s.bytes += vectorBytes(&run[i])
		}
		if s.bytes <= spoolMemory {
			return nil
		}
		return s.spill()
	}
	return s.write(run)
}

// vectorBytes is the memory that the values of a vector take.
func vectorBytes(v *columnar.Vector) int {
	return len(v.Bytes) + 4*len(v.Offsets) + 8*(len(v.Ints)+len(v.Floats)+len(v.Valid)) + 16*len(v.Wide)
}

// spill moves the rows to a file.
func (s *rowSpool) spill() (err error) {
	if s.file, err = os.CreateTemp(s.folder, "rows-"); err != nil {
		return fmt.Errorf("hold rows: %w", err)
	}
	if err := os.Remove(s.file.Name()); err != nil {
		return fmt.Errorf("hold rows: %w", err)
	}
	s.out = bufio.NewWriterSize(s.file, 1<<16)
	s.to = gob.NewEncoder(s.out)
	held := s.held
	s.held = nil
	for _, run := range held {
		if err := s.write(run); err != nil {
			return err
		}
	}
	return nil
}

func (s *rowSpool) write(run []columnar.Vector) error {
	if err := s.to.Encode(run); err != nil {
		return fmt.Errorf("hold rows: %w", err)
	}
	return nil
}

// each gives fn the rows in their order.
func (s *rowSpool) each(fn func([]columnar.Vector) error) error {
	if s.file == nil {
		for _, run := range s.held {
			if err := fn(run); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("hold rows: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("hold rows: %w", err)
	}
	from := gob.NewDecoder(bufio.NewReaderSize(s.file, 1<<16))
	for {
		var run []columnar.Vector
		if err := from.Decode(&run); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("hold rows: %w", err)
		}
		if err := fn(run); err != nil {
			return err
		}
	}
}

// close gives up the file.
func (s *rowSpool) close() {
	if s.file != nil {
		_ = s.file.Close() // nothing reads it any more
	}
}
