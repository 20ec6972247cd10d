package postgres

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A replica that is frozen, or whose host is cut off, holds the locks of its
// transactions and says nothing. Every connection has limits that end such a
// transaction before another replica can have taken over, and that end every wait.
const (
	// idleInTransaction is how long a transaction may wait for its client: it
	// always has its next statement at hand.
	idleInTransaction = 5 * time.Second
	// statementPatience bounds a statement.
	statementPatience = time.Minute
	// lockPatience bounds a wait for a lock: it is longer than a frozen replica
	// can hold one. Statements that run for every delivery wait for less, and
	// then do without what is locked.
	lockPatience       = 2 * idleInTransaction
	steadyLockPatience = time.Second
	// silence is how long the other end may leave what is sent to it, or a
	// probe, unacknowledged.
	silence        = 15 * time.Second
	probeAfter     = 5 * time.Second
	probeEvery     = 3 * time.Second
	probes         = 3
	dialPatience   = 10 * time.Second
	noLimitsInside = `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`
)

// planAnew has every statement planned for the values it is called with, which
// say what partitions to read, and for the tables as they are: a plan made
// while a table was small would be kept when it is not any more.
var planAnew = map[string]string{
	"plan_cache_mode": "force_custom_plan",
	"lock_timeout":    milliseconds(lockPatience),
}

// planOnce has a statement planned once for ever, by index and row by row. It is
// for those that are called all the time, with values for which no other plan is
// ever better, and that read no more of the tables that are divided by days than
// they must: to plan them costs more than to run them.
var planOnce = map[string]string{
	"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	"lock_timeout": milliseconds(steadyLockPatience),
}

// forAll are the settings of all connections. To compile a plan would take longer
// than any of them runs.
var forAll = map[string]string{
	"jit":                                 "off",
	"statement_timeout":                   milliseconds(statementPatience),
	"idle_in_transaction_session_timeout": milliseconds(idleInTransaction),
	"tcp_user_timeout":                    milliseconds(silence),
	"tcp_keepalives_idle":                 seconds(probeAfter),
	"tcp_keepalives_interval":             seconds(probeEvery),
	"tcp_keepalives_count":                fmt.Sprint(probes),
}

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

func seconds(d time.Duration) string { return fmt.Sprint(int(d.Seconds())) }

// newPool makes a pool of connections on which settings have been made. One that
// the server does not know, which may be another than PostgreSQL, is left out.
func newPool(ctx context.Context, config *pgxpool.Config, settings map[string]string, w *watch) (*pgxpool.Pool, error) {
	var values []string
	for _, some := range []map[string]string{forAll, settings} {
		for name, value := range some {
			values = append(values, fmt.Sprintf("('%s', '%s')", name, value))
		}
	}
	set := `SELECT set_config(name, value, false) FROM (VALUES ` + strings.Join(values, ", ") + `) AS settings (name, value)
		WHERE current_setting(name, true) IS NOT NULL`
	config = config.Copy()
	plain := dial(config.ConnConfig.ConnectTimeout)
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := plain(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return w.add(conn)
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, set); err != nil {
			return err
		}
		return watchFrom(ctx, conn)
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// dial makes connections that notice when the other end has gone without a word.
func dial(patience time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	if patience == 0 {
		patience = dialPatience
	}
	d := net.Dialer{
		Timeout: patience, Control: setUserTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes},
	}
	return d.DialContext
}
