package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// tried is an attempt to write, under the number that its delivery gives it.
type tried struct {
	delivery, number int64
	*feedmill.Attempt
}

var (
	attemptRows = &multiInsert{
		into: `INSERT INTO attempts
			(delivery_seq, number, id, at, status, error, header, dns_us, connect_us, tls_us, first_byte_us, total_us) VALUES `,
		row: `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	}
	bodyRows = &multiInsert{into: `INSERT INTO attempt_bodies (delivery_seq, number, body) VALUES `, row: `(?, ?, ?)`}
)

// insertAttempts writes attempts, and the bodies of the responses that some of
// them got.
func (t *tx) insertAttempts(attempts []tried) error {
	r := t.insertInto(attemptRows)
	for _, a := range attempts {
		r.int(a.delivery)
		r.int(a.number)
		r.text(string(a.ID))
		r.int(a.At.UnixMilli())
		r.int(int64(a.Status))
		r.text(a.Error)
		r.blob(packHeader(a.Header))
		r.int(a.Timing.DNS.Microseconds())
		r.int(a.Timing.Connect.Microseconds())
		r.int(a.Timing.TLS.Microseconds())
		r.int(a.Timing.FirstByte.Microseconds())
		r.int(a.Timing.Total.Microseconds())
		if err := r.endRow(); err != nil {
			return err
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	r = t.insertInto(bodyRows)
	for _, a := range attempts {
		if len(a.Body) == 0 {
			continue
		}
		r.int(a.delivery)
		r.int(a.number)
		r.blob(a.Body)
		if err := r.endRow(); err != nil {
			return err
		}
	}
	return r.flush()
}

// DeliveryAttempts lists the attempts of a delivery, first to last.
func (db *DB) DeliveryAttempts(ctx context.Context, delivery feedmill.ID) ([]feedmill.Attempt, error) {
	rows, err := db.rows(ctx, `SELECT a.id, a.number, a.at, a.status, a.error, a.header, b.body,
		a.dns_us, a.connect_us, a.tls_us, a.first_byte_us, a.total_us
		FROM attempts a LEFT JOIN attempt_bodies b ON b.delivery_seq = a.delivery_seq AND b.number = a.number
		WHERE a.delivery_seq = (SELECT seq FROM deliveries WHERE id = ?) ORDER BY a.number`, delivery)
	return all(rows, err, func(row record.Row) (feedmill.Attempt, error) {
		a := feedmill.Attempt{Delivery: delivery}
		var (
			at                                  sql.NullInt64
			header                              []byte
			dns, connect, tls, firstByte, total int64
		)
		err := row.Scan(&a.ID, &a.Number, &at, &a.Status, &a.Error, &header, &a.Body, &dns, &connect, &tls, &firstByte, &total)
		if err != nil {
			return a, err
		}
		a.At = fromMillis(at)
		a.Timing = feedmill.Timing{
			DNS: time.Duration(dns) * time.Microsecond, Connect: time.Duration(connect) * time.Microsecond,
			TLS: time.Duration(tls) * time.Microsecond, FirstByte: time.Duration(firstByte) * time.Microsecond,
			Total: time.Duration(total) * time.Microsecond,
		}
		a.Header, err = unpackHeader(header)
		return a, err
	})
}

// LastAttempts are the last attempts of those deliveries that were tried, without the
// answers.
func (db *DB) LastAttempts(ctx context.Context, deliveries []feedmill.Delivery) (map[feedmill.ID]feedmill.Attempt, error) {
	ids := make(map[int64]feedmill.ID, len(deliveries))
	seqs := make([]int64, len(deliveries))
	for i, d := range deliveries {
		ids[d.Seq], seqs[i] = d.ID, d.Seq
	}
	list, err := json.Marshal(seqs)
	if err != nil {
		return nil, err
	}
	last := make(map[feedmill.ID]feedmill.Attempt, len(deliveries))
	rows, err := db.rows(ctx, `SELECT a.delivery_seq, a.id, a.number, a.at, a.status, a.error, a.total_us FROM json_each(?1) j
		CROSS JOIN attempts a ON a.delivery_seq = j.value AND a.number = (SELECT max(b.number) FROM attempts b WHERE b.delivery_seq = j.value)`, string(list))
	_, err = all(rows, err, func(row record.Row) (struct{}, error) {
		var a feedmill.Attempt
		var seq, total int64
		var at sql.NullInt64
		err := row.Scan(&seq, &a.ID, &a.Number, &at, &a.Status, &a.Error, &total)
		a.Delivery, a.At, a.Timing.Total = ids[seq], fromMillis(at), time.Duration(total)*time.Microsecond
		last[a.Delivery] = a
		return struct{}{}, err
	})
	return last, err
}

// packHeader writes names and values one after the other, each behind its
// length: endpoints send bytes that no separator and no text column is safe from.
func packHeader(header [][2]string) []byte {
	var b []byte
	for _, field := range header {
		for _, s := range field {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
	}
	return b
}

var errHeader = errors.New("the stored header of an attempt is damaged")

func unpackHeader(b []byte) (header [][2]string, err error) {
	for len(b) > 0 {
		var field [2]string
		for i := range field {
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return nil, errHeader
			}
			field[i] = string(b[n : n+int(size)])
			b = b[n+int(size):]
		}
		header = append(header, field)
	}
	return header, nil
}
