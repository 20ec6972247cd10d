// Package postgres keeps the records of the service in a PostgreSQL database
// that any number of replicas share.
//
// It uses plain SQL that PostgreSQL-compatible distributed databases run too:
// no extensions, nothing that works only with LISTEN, which makes replicas faster
// and no more, and one advisory lock, which is only ever shared (see order.go). The
// package stores what it is told and decides nothing; its contract is the suite in
// internal/store/storetest.
//
// What grows without end is kept in one partition a day, by ids that begin with
// the time, and is dropped a day at a time (see [DB.Prune]). A delivery with
// attempts to come is in a table of its own, open_deliveries, and moves to the
// partitions when it ends: so that the work that is left is quick to find
// however much has been done. The calls that make up nearly all of the load,
// [DB.Accept] and [DB.Settle], share transactions (see group). So do those that
// create subscriptions, which have to lock their workspace until they are durable.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// DB is an open store. Its methods may be called from any goroutine.
type DB struct {
	record.Store
	// often is the same for what is called all the time.
	often record.Store

	options feedmill.StoreOptions

	// pool plans every statement anew, steady once.
	pool, steady *pgxpool.Pool
	watch        *watch

	days  days
	sweep sweep

	successes successes
	fanouts   fanouts
	payloads  payloadCache

	accepts   *group[*acceptCall]
	settles   *group[[]feedmill.Outcome]
	creations *group[record.Creation]
}

// errURL replaces the driver's error, whose text can quote the URL with its password.
var errURL = errors.New("postgres: the database URL is not valid; write it as postgres://user:password@host:5432/database")

// Open connects to the database and brings its schema up to date.
func Open(ctx context.Context, url string, o feedmill.StoreOptions) (*DB, error) {
	db, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	db.options = o.WithDefaults()
	if err := migrateUp(ctx, db.pool); err != nil {
		db.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db.accepts = newGroup(db.acceptCalls, db.weight, maxSharedBytes, acceptsInFlight, acceptsMinWeight)
	db.settles = newGroup(db.settleCalls, func(o []feedmill.Outcome) int { return len(o) }, maxSharedOutcomes, settlesInFlight, settlesMinWeight)
	db.creations = newGroup(db.CreateAll, record.Creation.Len, maxSharedCreations, 1, 0)
	if err := db.preparePartitions(ctx, time.Now(), time.Time{}, daysAheadAtOpen); err != nil {
		db.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return db, nil
}

// connect connects to a database and leaves its schema as it is.
func connect(ctx context.Context, url string) (*DB, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	config.MaxConns, config.MinConns = max(config.MaxConns, 16)/2, config.MinConns/2
	db := &DB{watch: newWatch()}
	if db.pool, err = newPool(ctx, config, planAnew, db.watch); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if db.steady, err = newPool(ctx, config, planOnce, db.watch); err != nil {
		db.pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	db.watch.stop = stop
	go db.watchConnections(watching)
	db.Store, db.often = record.NewStore(engine{reader{db.pool}, db}, dialect), record.NewStore(engine{reader{db.steady}, db}, dialect)
	return db, nil
}

// closePatience is how long Close waits for calls in flight, and for the server to
// acknowledge the end of connections.
const closePatience = 2 * time.Second

// Close waits for the connections in use, for closePatience, and closes them.
func (db *DB) Close() error {
	db.watch.stop()
	<-db.watch.done
	end := time.AfterFunc(closePatience, db.watch.end)
	defer end.Stop()
	var pools sync.WaitGroup
	pools.Go(db.pool.Close)
	pools.Go(db.steady.Close)
	pools.Wait()
	return nil
}

// Place says what keeps the records, and where.
func (db *DB) Place(ctx context.Context) (feedmill.StorePlace, error) {
	var version string
	if err := db.steady.QueryRow(ctx, `SHOW server_version`).Scan(&version); err != nil {
		return feedmill.StorePlace{}, translate(err)
	}
	version, _, _ = strings.Cut(version, " ") // what follows is whose package it is
	p := feedmill.StorePlace{Engine: "PostgreSQL " + version}
	to := db.pool.Config().ConnConfig
	p.Where = net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))) + "/" + to.Database
	for _, pool := range []*pgxpool.Pool{db.pool, db.steady} {
		p.Connections += int(pool.Stat().TotalConns())
		p.MaxConnections += int(pool.Stat().MaxConns())
	}
	return p, nil
}

// Ping reports whether the store answers.
func (db *DB) Ping(ctx context.Context) error {
	err := db.pool.Ping(ctx)
	if err != nil && ctx.Err() == nil {
		// The connections at hand may be of a server that has been started
		// again since: what a new one says counts.
		db.reset()
		err = db.pool.Ping(ctx)
	}
	return translate(err)
}

// reset gives up the connections at hand.
func (db *DB) reset() {
	db.pool.Reset()
	db.steady.Reset()
}
