package postgres

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const attemptColumns = `delivery_id, id, number, at, status, error, header, dns, connect, tls, first_byte, total`

// DeliveryAttempts lists the attempts of a delivery, first to last.
func (db *DB) DeliveryAttempts(ctx context.Context, delivery feedmill.ID) ([]feedmill.Attempt, error) {
	rows, err := db.rows(ctx, `SELECT a.*, b.body FROM (
			SELECT `+attemptColumns+`, NULL::text AS final_id, NULL::integer AS final_number, NULL::bytea AS final_attempt
			FROM attempts WHERE delivery_id = $1
			UNION ALL
			SELECT id, final_id, final_number, ended_at, 0, '', NULL, 0, 0, 0, 0, 0, `+finalColumns+`
			FROM ended_deliveries WHERE id = $1 AND final_id IS NOT NULL) a
		LEFT JOIN attempt_bodies b ON b.delivery_id = $1 AND b.attempt_id = a.id
		ORDER BY a.number, a.id`, delivery)
	return all(rows, err, func(row record.Row) (a feedmill.Attempt, err error) {
		var header, body []byte
		var final finalAttempt
		t := &a.Timing
		err = row.Scan(&a.Delivery, &a.ID, &a.Number, &a.At, &a.Status, &a.Error, &header,
			(*int64)(&t.DNS), (*int64)(&t.Connect), (*int64)(&t.TLS), (*int64)(&t.FirstByte), (*int64)(&t.Total),
			&final.id, &final.number, &final.packed, &body)
		a.At, a.Header = a.At.UTC(), decodeHeader(header)
		if final.id != nil {
			a = final.attempt(delivery)
		}
		a.Body = body
		return a, translate(err)
	})
}

// LastAttempts are the last attempts of those deliveries that were tried, without the
// answers.
func (db *DB) LastAttempts(ctx context.Context, deliveries []feedmill.Delivery) (map[feedmill.ID]feedmill.Attempt, error) {
	ids := make([]string, len(deliveries))
	for i, d := range deliveries {
		ids[i] = string(d.ID)
	}
	last := make(map[feedmill.ID]feedmill.Attempt, len(deliveries))
	rows, err := db.rows(ctx, `SELECT DISTINCT ON (delivery_id) * FROM (
			SELECT delivery_id, id, number, at, status, error, total, NULL::text AS final_id, NULL::integer AS final_number, NULL::bytea AS final_attempt
			FROM attempts WHERE delivery_id = ANY($1)
			UNION ALL
			SELECT id, final_id, final_number, ended_at, 0, '', 0, `+finalColumns+`
			FROM ended_deliveries WHERE id = ANY($1) AND final_id IS NOT NULL) a
		ORDER BY delivery_id, number DESC`, ids)
	_, err = all(rows, err, func(row record.Row) (struct{}, error) {
		var a feedmill.Attempt
		var final finalAttempt
		err := row.Scan(&a.Delivery, &a.ID, &a.Number, &a.At, &a.Status, &a.Error, (*int64)(&a.Timing.Total), &final.id, &final.number, &final.packed)
		a.At = a.At.UTC()
		if err == nil && final.id != nil {
			whole := final.attempt(a.Delivery)
			a = feedmill.Attempt{ID: whole.ID, Delivery: a.Delivery, Number: whole.Number, At: whole.At, Status: whole.Status, Error: whole.Error, Timing: feedmill.Timing{Total: whole.Timing.Total}}
		}
		last[a.Delivery] = a
		return struct{}{}, translate(err)
	})
	return last, err
}

// insertAttempt writes an attempt beside its delivery.
func (t tx) insertAttempt(ctx context.Context, a feedmill.Attempt) error {
	d := a.Timing
	_, err := t.exec(ctx, `INSERT INTO attempts (`+attemptColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		a.Delivery, a.ID, a.Number, a.At, a.Status, a.Error, encodeHeader(a.Header),
		int64(d.DNS), int64(d.Connect), int64(d.TLS), int64(d.FirstByte), int64(d.Total))
	return err
}

// encodeHeader writes each name and each value behind its length. A response's
// header may hold any bytes, which a column of text may not.
func encodeHeader(header [][2]string) (b []byte) {
	for _, field := range header {
		b = appendText(appendText(b, field[0]), field[1])
	}
	return b
}

// decodeHeader is the reverse of encodeHeader. It ends at what it cannot read.
func decodeHeader(b []byte) (header [][2]string) {
	for len(b) > 0 {
		var field [2]string
		var ok bool
		for i := range field {
			if field[i], b, ok = cutText(b); !ok {
				return header
			}
		}
		header = append(header, field)
	}
	return header
}

// appendText appends a text behind its length.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// cutText is the reverse of appendText. It reports whether there was a text.
func cutText(b []byte) (s string, rest []byte, ok bool) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return "", nil, false
	}
	return string(b[n : n+int(length)]), b[n+int(length):], true
}

// asText makes of what an endpoint or a resolver said a text that can be kept:
// a column takes neither zero bytes nor broken UTF-8.
func asText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
