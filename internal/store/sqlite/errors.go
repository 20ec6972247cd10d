package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
)

// translate turns the driver's errors into the domain's at the store's edge.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return feedmill.ErrNotFound
	}
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) {
		return fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
	}
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrConstraint:
		switch e.ExtendedCode {
		case sqlite3.ErrConstraintUnique, sqlite3.ErrConstraintPrimaryKey:
			return fmt.Errorf("%w: %w", feedmill.ErrConflict, err)
		case sqlite3.ErrConstraintForeignKey:
			return fmt.Errorf("%w: %w", feedmill.ErrNotFound, err)
		}
	case sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrReadonly,
		sqlite3.ErrCantOpen, sqlite3.ErrNomem, sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrProtocol, sqlite3.ErrPerm,
		sqlite3.ErrInterrupt, sqlite3.ErrSchema:
		return fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
	}
	return err
}
