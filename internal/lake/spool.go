package lake

import (
	"errors"
	"io"
	"os"
	"sync"
)

// spool stands between a worker, which is quick, and a client, which may be
// slow: it takes what the worker gives, so that the worker is free for the next
// request however long the client takes. What the client has not taken yet is
// held in memory up to a limit, beyond it in a temporary file, and beyond the
// limit of that the worker waits.
type spool struct {
	memory int
	disk   int64
	// open makes the file, which nobody else can find.
	open func() (*os.File, error)
	// take takes bytes of what all files may have together, and give gives
	// back those that were taken.
	take  func(n int64) bool
	give  func(n int64)
	taken int64

	mu      sync.Mutex
	changed *sync.Cond
	// What is in memory is older than what is in the file.
	parts   [][]byte
	held    int
	file    *os.File
	written int64
	read    int64
	ended   bool
	err     error // of the writer, for the reader once all is read
	gone    error // of the reader, for the writer at once
}

func newSpool(memory int, disk int64, folder string) *spool {
	s := &spool{memory: memory, disk: disk, open: func() (*os.File, error) { return unlinked(folder) }}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// unlinked is a file without a name, which is gone once it is closed.
func unlinked(folder string) (*os.File, error) {
	if folder == "" {
		return nil, errors.ErrUnsupported
	}
	f, err := os.CreateTemp(folder, tempPrefix)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Write takes bytes from the worker.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.gone != nil:
			return 0, s.gone
		case s.written == s.read && (s.held == 0 || s.held+len(p) <= s.memory):
			s.parts = append(s.parts, append([]byte(nil), p...))
			s.held += len(p)
			s.changed.Broadcast()
			return len(p), nil
		case s.disk > 0 && s.written+int64(len(p)) <= s.disk && s.grow(s.written+int64(len(p))):
			return s.spill(p)
		}
		s.changed.Wait()
	}
}

// grow makes sure of so many bytes for the file.
func (s *spool) grow(size int64) bool {
	more := size - s.taken
	if more <= 0 || s.take == nil {
		return true
	}
	if !s.take(more) {
		return false
	}
	s.taken = size
	return true
}

func (s *spool) spill(p []byte) (int, error) {
	if s.file == nil {
		f, err := s.open()
		if err != nil {
			return 0, err
		}
		s.file = f
	}
	n, err := s.file.WriteAt(p, s.written)
	s.written += int64(n)
	s.changed.Broadcast()
	return n, err
}

// end says that the worker has nothing more to give, or why it cannot.
func (s *spool) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.err = true, err
	s.changed.Broadcast()
}

// copyTo gives all to the client, until the end.
func (s *spool) copyTo(out io.Writer) error {
	buf := make([]byte, 256<<10)
	for {
		part, err := s.next(buf)
		if err != nil {
			if err == io.EOF { // a worker that died has an error that wraps it
				return nil
			}
			return err
		}
		if _, err := out.Write(part); err != nil {
			s.abandon(err)
			return err
		}
	}
}

// abandon says that the client takes nothing more.
func (s *spool) abandon(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = err
	s.changed.Broadcast()
}

// next is the next part, which may be in buf.
func (s *spool) next(buf []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case len(s.parts) > 0:
			part := s.parts[0]
			s.parts = s.parts[1:]
			s.held -= len(part)
			s.changed.Broadcast()
			return part, nil
		case s.read < s.written:
			n, err := s.file.ReadAt(buf[:min(int64(len(buf)), s.written-s.read)], s.read)
			s.read += int64(n)
			if s.read == s.written {
				// All was read: the file begins anew.
				s.read, s.written = 0, 0
			}
			s.changed.Broadcast()
			if n == 0 {
				return nil, err
			}
			return buf[:n], nil
		case s.err != nil:
			return nil, s.err
		case s.ended:
			return nil, io.EOF
		}
		s.changed.Wait()
	}
}

func (s *spool) close() error {
	if s.taken > 0 {
		s.give(s.taken)
	}
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
