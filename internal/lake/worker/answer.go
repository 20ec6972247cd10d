package worker

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/feedmill/feedmill/internal/lake/wire"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
)

// serve answers one request. It returns an error where the connection is broken.
func serve(e engine, conn io.Writer, request wire.Request) error {
	end, err := e.answer(&sender{conn: conn}, request)
	if broken, ok := errors.AsType[brokenError](err); ok {
		return broken
	}
	if err != nil {
		failure, ok := errors.AsType[*wire.Failure](err)
		if !ok {
			failure = &wire.Failure{Message: err.Error()}
		}
		return wire.WriteMessage(conn, wire.KindFailure, failure)
	}
	end.Held = held().own
	return wire.WriteMessage(conn, wire.KindEnd, end)
}

func (d *database) answer(out *sender, request wire.Request) (end wire.End, err error) {
	if d.file != "" {
		if err := d.attach(); err != nil {
			return wire.End{}, err
		}
		defer func() {
			if failed := d.detach(request.Inside); failed != nil {
				err = failed
			}
		}()
		if request.Inside {
			if err := d.exec("USE " + dialect.Attached); err != nil {
				return wire.End{}, err
			}
		}
	}
	if err := d.guard(request); err != nil {
		return wire.End{}, err
	}
	r, err := d.page(request)
	if err != nil {
		return wire.End{}, err
	}
	defer r.close()
	if len(r.columns) < len(request.Names) {
		return wire.End{}, fmt.Errorf("%d names for %d columns", len(request.Names), len(r.columns))
	}
	shown := make([]*column, len(request.Names))
	for i := range shown {
		shown[i] = &r.columns[i]
	}
	w, err := newRows(request, shown, out)
	if err != nil {
		return wire.End{}, err
	}
	if c, ok := w.(io.Closer); ok {
		defer c.Close()
	}
	return out.send(r, w, r.columns[len(shown):], request.Limit)
}

// guard makes sure of what a request takes for granted.
func (d *database) guard(request wire.Request) error {
	if request.Guard == "" {
		return nil
	}
	failed := &wire.Failure{Message: "it has changed", Stage: wire.StageGuard}
	r, err := d.query(request.Guard, nil, false)
	if err != nil {
		failed.Message = err.Error()
		return failed
	}
	defer r.close()
	n, err := r.next()
	if err != nil {
		failed.Message = err.Error()
		return failed
	}
	if n != 1 || len(r.columns) != 1 || r.columns[0].kind != kindText || r.columns[0].null(0) || string(r.columns[0].text(0)) != request.GuardText {
		return failed
	}
	return nil
}

// rows renders rows of the chunk at hand. It sends what has become large itself, so
// that the memory does not depend on how much text a chunk has.
type rows interface {
	begin(dst []byte) []byte
	append(dst []byte, n int) ([]byte, error)
	end(dst []byte) ([]byte, error)
}

func newRows(request wire.Request, columns []*column, out *sender) (rows, error) {
	names, format := request.Names, request.Format
	switch format {
	case wire.FormatJSON, wire.FormatNDJSON, wire.FormatTextJSON, wire.FormatTextNDJSON:
		return newJSON(names, columns, format, out), nil
	case wire.FormatCSV, wire.FormatExcelCSV:
		return &csvRows{names: names, columns: columns, nullable: request.Nullable, excel: format == wire.FormatExcelCSV, out: out}, nil
	case wire.FormatArrow:
		return newArrow(names, columns, out), nil
	case wire.FormatParquet:
		return newParquet(request, columns, out)
	case wire.FormatXLSX:
		return newXLSX(names, columns, request.Units)
	}
	return nil, fmt.Errorf("no format %q", format)
}

// sender gathers bytes and sends them in frames of a good size.
type sender struct {
	conn io.Writer
	buf  []byte
}

const frameBytes = 256 << 10

// brokenError is a failure of the connection.
type brokenError struct{ error }

// send sends the rows of a result, up to a limit if it is not zero.
func (s *sender) send(r *result, w rows, keys []column, limit int64) (wire.End, error) {
	var end wire.End
	var last []*string
	s.buf = w.begin(s.buf)
	for {
		n, err := r.next()
		if err != nil {
			return end, err
		}
		if n == 0 {
			break
		}
		take := n
		if limit > 0 {
			take = int(min(int64(n), limit-end.Rows))
		}
		if take > 0 {
			if s.buf, err = w.append(s.buf, take); err != nil {
				return end, err
			}
			end.Rows += int64(take)
			if end.Rows == limit {
				last = texts(keys, take-1)
			}
		}
		if take < n {
			end.Next = last
			break
		}
		if err := s.flush(frameBytes); err != nil {
			return end, err
		}
	}
	var err error
	if s.buf, err = w.end(s.buf); err != nil {
		return end, err
	}
	return end, s.flush(1)
}

// pass sends bytes without gathering them.
func (s *sender) pass(data []byte) error {
	for part := range slices.Chunk(data, 4*frameBytes) {
		if err := wire.Write(s.conn, wire.KindData, part); err != nil {
			return brokenError{err}
		}
	}
	return nil
}

// flush sends what was gathered, if it has so many bytes.
func (s *sender) flush(least int) error {
	for from := 0; len(s.buf)-from >= least; {
		n := min(len(s.buf)-from, 4*frameBytes)
		if err := wire.Write(s.conn, wire.KindData, s.buf[from:from+n]); err != nil {
			return brokenError{err}
		}
		if from += n; from == len(s.buf) {
			s.buf = s.buf[:0]
			return nil
		}
		least = 1
	}
	return nil
}

// spill sends everything that was gathered in dst, and returns it empty.
func (s *sender) spill(dst []byte) ([]byte, error) {
	s.buf = dst
	err := s.flush(1)
	return s.buf, err
}

// Write sends bytes at once.
func (s *sender) Write(p []byte) (int, error) {
	for from := 0; from < len(p); from += 4 * frameBytes {
		if err := wire.Write(s.conn, wire.KindData, p[from:min(from+4*frameBytes, len(p))]); err != nil {
			return from, brokenError{err}
		}
	}
	return len(p), nil
}

// longText is from how many bytes on a text is rendered and sent in pieces, and how
// much is gathered before it is sent.
const longText = 4 * frameBytes

// inPieces appends a long text piece by piece, and sends what was gathered between them.
func (s *sender) inPieces(dst, text []byte, add func(dst, piece []byte) []byte) ([]byte, error) {
	for len(text) > 0 {
		n := min(len(text), frameBytes)
		dst = add(dst, text[:n])
		text = text[n:]
		if len(dst) >= frameBytes {
			var err error
			if dst, err = s.spill(dst); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// texts are the keys of a row, nil where one is null.
func texts(keys []column, row int) []*string {
	out := make([]*string, len(keys))
	for i := range keys {
		if !keys[i].null(row) {
			out[i] = new(string(keys[i].appendValue(nil, row)))
		}
	}
	return out
}
