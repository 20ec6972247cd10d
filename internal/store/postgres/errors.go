package postgres

import (
	"context"
	"errors"
	"fmt"
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
	duplicateTable      = "42P07"
)

// unavailableClasses are the classes of errors that pass with time or with the
// operator's help: connection, transaction rollback, resources, operator
// intervention, system error, read-only transaction.
var unavailableClasses = []string{"08", "40", "53", "57", "58", "25006", "55P03"}

// translate turns the driver's errors into the domain's at the store's edge.
func translate(err error) error {
	if err == nil || isDomain(err) {
		return err
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return feedmill.ErrNotFound
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case uniqueViolation:
			return fmt.Errorf("%w: %w", feedmill.ErrConflict, err)
		case foreignKeyViolation:
			return fmt.Errorf("%w: %w", feedmill.ErrNotFound, err)
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
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
	}
	return err
}

// isDomain reports whether err has been translated already, or never came from
// the driver.
func isDomain(err error) bool {
	for _, kind := range []error{feedmill.ErrNotFound, feedmill.ErrConflict, feedmill.ErrUnavailable, feedmill.ErrAnswered} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
