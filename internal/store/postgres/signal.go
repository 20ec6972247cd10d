package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
)

// Replicas tell each other what they would find out by themselves when they poll
// the next time. A word that is lost costs some seconds and nothing else, so it is
// not part of any transaction: a NOTIFY makes commits wait for each other.
const signalChannel = "feedmill_signals"

// maxSignal is how long a signal may be: PostgreSQL takes no more than 8,000 bytes.
const maxSignal = 7900

// hearPatience is how long Hear takes a silent connection to be there still.
const hearPatience = time.Minute

// Tell tells all replicas something about subscriptions. Where they are too many to
// be named none is.
func (db *DB) Tell(ctx context.Context, signal feedmill.Signal, subscriptions []feedmill.ID) error {
	var b strings.Builder
	b.WriteString(string(signal))
	for _, id := range subscriptions {
		b.WriteByte(' ')
		b.WriteString(string(id))
	}
	text := b.String()
	if len(text) > maxSignal {
		text = string(signal)
	}
	_, err := db.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, signalChannel, text)
	return translate(err)
}

// Hear calls heard with what replicas tell, this one included, until ctx or the
// connection ends. It has a connection of its own.
func (db *DB) Hear(ctx context.Context, heard func(feedmill.Signal, []feedmill.ID)) error {
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return translate(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `LISTEN `+signalChannel); err != nil {
		return translate(err)
	}
	for {
		n, err := nextSignal(ctx, conn)
		if err != nil {
			return translate(err)
		}
		if n == nil {
			continue
		}
		var ids []feedmill.ID
		words := strings.Fields(n.Payload)
		if len(words) == 0 {
			continue
		}
		for _, id := range words[1:] {
			ids = append(ids, feedmill.ID(id))
		}
		heard(feedmill.Signal(words[0]), ids)
	}
}

// nextSignal waits for a signal; nil says that the connection is there and silent.
func nextSignal(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	wait, cancel := context.WithTimeout(ctx, hearPatience)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	if err != nil && wait.Err() != nil && ctx.Err() == nil && !conn.IsClosed() {
		ping, cancel := context.WithTimeout(ctx, silence)
		defer cancel()
		return nil, conn.Ping(ping)
	}
	return n, err
}
