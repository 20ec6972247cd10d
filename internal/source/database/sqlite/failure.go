package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

var errTimeout = errors.New("the statement took too long")

func isEnd(err error) bool { return errors.Is(err, io.EOF) }

// failure says what an error means. Bounded is ctx with the time that there was.
func (f *file) failure(ctx, bounded context.Context, err error, view string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return err
	}
	name := filepath.Base(f.path)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(bounded), errTimeout):
		return database.TookTooLong(view, f.timeout, err)
	}
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return err
	}
	said := fmt.Sprintf("SQLite said: %s (%d).", database.Said(e.Error()), e.Code)
	switch e.Code {
	case sqlite3.ErrCantOpen, sqlite3.ErrIoErr, sqlite3.ErrPerm, sqlite3.ErrNotADB, sqlite3.ErrCorrupt:
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The file %s cannot be read. %s", name, said), err)
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The file %s is being written by somebody else. %s", name, said), err)
	}
	return database.Fail(database.ProblemStatement, fmt.Sprintf("SQLite could not answer a query on %q. %s", view, said), err)
}
