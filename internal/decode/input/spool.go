package input

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Spool is a temporary file for texts that had to be written again, one after
// the other. It is made when the first of them comes.
type Spool struct {
	folder string
	file   *os.File
	size   int64
}

// NewSpool returns a spool in the folder; empty is that of the system.
func NewSpool(folder string) *Spool { return &Spool{folder: folder} }

// Write writes a text and returns the part of the file that has it.
func (s *Spool) Write(write func(io.Writer) error) (Source, error) {
	if s.file == nil {
		if err := s.open(); err != nil {
			return nil, fmt.Errorf("create the file for the text in UTF-8: %w", err)
		}
	}
	out := io.NewOffsetWriter(s.file, s.size)
	if err := write(out); err != nil {
		return nil, fmt.Errorf("write the text in UTF-8: %w", err)
	}
	size, err := out.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("write the text in UTF-8: %w", err)
	}
	text := io.NewSectionReader(s.file, s.size, size)
	s.size += size
	return text, nil
}

func (s *Spool) open() error {
	file, err := os.CreateTemp(s.folder, "text-*")
	if err != nil {
		return err
	}
	// The file lives on without its name and cannot be left behind.
	if err := os.Remove(file.Name()); err != nil {
		return errors.Join(err, file.Close())
	}
	s.file = file
	return nil
}

// Close gives up the file, where there is one. What was written cannot be read
// after it.
func (s *Spool) Close() error {
	if s == nil || s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
