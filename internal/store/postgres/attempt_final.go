package postgres

import (
	"encoding/binary"
	"time"

	"github.com/feedmill/feedmill"
)

// The attempt that ended a delivery is kept in the delivery's own row, packed in
// one column: nearly every delivery has that one attempt, and a row and an index
// of its own would cost as much as the delivery's.
const finalColumns = `final_id, final_number, final_attempt`

// finalAttempt is finalColumns of a row; all are NULL where no attempt ended it.
type finalAttempt struct {
	id     *feedmill.ID
	number *int
	packed []byte
}

// columns are where to scan it to.
func (f *finalAttempt) columns() []any { return []any{&f.id, &f.number, &f.packed} }

// attempt is the attempt of a delivery. There must be one.
func (f *finalAttempt) attempt(delivery feedmill.ID) feedmill.Attempt {
	a := unpackAttempt(f.packed)
	a.ID, a.Delivery, a.Number = *f.id, delivery, *f.number
	return a
}

// packAttempt appends all of an attempt but its ids, its number and its body.
func packAttempt(b []byte, a *feedmill.Attempt) []byte {
	b = binary.AppendVarint(b, a.At.UnixMicro())
	b = binary.AppendVarint(b, int64(a.Status))
	t := a.Timing
	for _, d := range [...]time.Duration{t.DNS, t.Connect, t.TLS, t.FirstByte, t.Total} {
		b = binary.AppendVarint(b, int64(d))
	}
	b = appendText(b, asText(a.Error))
	for _, field := range a.Header {
		b = appendText(appendText(b, field[0]), field[1])
	}
	return b
}

// unpackAttempt is the reverse of packAttempt. What it cannot read is zero.
func unpackAttempt(b []byte) (a feedmill.Attempt) {
	number := func() int64 {
		v, n := binary.Varint(b)
		b = b[max(n, 0):]
		return v
	}
	a.At = time.UnixMicro(number()).UTC()
	a.Status = int(number())
	t := &a.Timing
	for _, d := range [...]*time.Duration{&t.DNS, &t.Connect, &t.TLS, &t.FirstByte, &t.Total} {
		*d = time.Duration(number())
	}
	a.Error, b, _ = cutText(b)
	a.Header = decodeHeader(b)
	return a
}
