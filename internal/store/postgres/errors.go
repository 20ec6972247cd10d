package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
)

// Codes of PostgreSQL's errors, from the appendix of its manual.
const (
	uniqueViolation     = "23505"
	foreignKeyViolation = "23503"
	checkViolation      = "23514" // also of a row that no partition takes
	undefinedTable      = "42P01"
	duplicateTable      = "42P07"
	duplicateObject     = "42710" // such as the type of a table's rows
	lockNotAvailable    = "55P03" // within lock_timeout
	deadlockDetected    = "40P01"
	untranslatable      = "22021" // a text that holds a zero byte or is no UTF-8
	waitedForClient     = "25P03" // for idle_in_transaction_session_timeout
)

// unavailableClasses are the classes of errors that pass with time or with the
// operator's help: connection, authorization, transaction rollback, resources,
// object in use, operator intervention, system error, internal error, read-only
// transaction, transaction that waited for this process for too long.
var unavailableClasses = []string{"08", "28", "40", "53", "55", "57", "58", "XX", "25006", waitedForClient}

// translate turns the driver's errors into the domain's at the store's edge.
func translate(err error) error {
	if err == nil || isDomain(err) {
		return err
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return feedmill.ErrNotFound
	}
	// A connection that could not be made may carry any code of the server's.
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case uniqueViolation:
			return fmt.Errorf("%w: %w", feedmill.ErrConflict, err)
		case foreignKeyViolation:
			return fmt.Errorf("%w: %w", feedmill.ErrNotFound, err)
		case untranslatable:
			return fmt.Errorf("%w: %w", feedmill.ErrInvalid, err)
		}
		for _, class := range unavailableClasses {
			if strings.HasPrefix(e.Code, class) {
				return fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
			}
		}
		return err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	var network net.Error
	lost := errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if lost || errors.As(err, &network) || pgconn.SafeToRetry(err) {
		return fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
	}
	return err
}

// isDomain reports whether err has been translated already, or never came from
// the driver.
func isDomain(err error) bool {
	for _, kind := range []error{feedmill.ErrNotFound, feedmill.ErrConflict, feedmill.ErrUnavailable, feedmill.ErrIdempotencyKeyUsed, feedmill.ErrInvalid} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// hasCode reports whether err is PostgreSQL's with the given code.
func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}
