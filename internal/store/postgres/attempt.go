package postgres

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// DeliveryAttempts lists the attempts of a delivery, first to last.
func (db *DB) DeliveryAttempts(ctx context.Context, delivery feedmill.ID) ([]feedmill.Attempt, error) {
	rows, err := db.rows(ctx, `SELECT a.id, a.delivery_id, a.number, a.at, a.status, a.error, a.header,
			a.dns, a.connect, a.tls, a.first_byte, a.total, b.body
		FROM attempts a LEFT JOIN attempt_bodies b ON b.delivery_id = $1 AND b.attempt_id = a.id
		WHERE a.delivery_id = $1 ORDER BY a.number, a.id`, delivery)
	return all(rows, err, func(row pgx.Row) (a feedmill.Attempt, err error) {
		var header []byte
		t := &a.Timing
		err = row.Scan(&a.ID, &a.Delivery, &a.Number, &a.At, &a.Status, &a.Error, &header,
			(*int64)(&t.DNS), (*int64)(&t.Connect), (*int64)(&t.TLS), (*int64)(&t.FirstByte), (*int64)(&t.Total), &a.Body)
		a.At, a.Header = a.At.UTC(), decodeHeader(header)
		return a, translate(err)
	})
}

// encodeHeader writes each name and each value behind its length. An answer's
// header may hold any bytes, which a column of text may not.
func encodeHeader(header [][2]string) (b []byte) {
	for _, field := range header {
		for _, s := range field {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
	}
	return b
}

// decodeHeader is the reverse of encodeHeader. It ends at what it cannot read.
func decodeHeader(b []byte) (header [][2]string) {
	for len(b) > 0 {
		var field [2]string
		for i := range field {
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return header
			}
			field[i], b = string(b[n:n+int(length)]), b[n+int(length):]
		}
		header = append(header, field)
	}
	return header
}

// asText makes of what an endpoint or a resolver said a text that can be kept:
// a column takes neither zero bytes nor broken UTF-8.
func asText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
