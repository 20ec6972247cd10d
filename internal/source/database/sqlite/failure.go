package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/feedmill/feedmill"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

var errTimeout = errors.New("the statement took too long")

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
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && errors.Is(err, feedmill.ErrUnprocessable) {
		return database.Fail(database.ProblemTooMuch, refusal.Detail, err)
	}
	e, ok := errors.AsType[*dialect.Error](err)
	if !ok {
		return err
	}
	detail := fmt.Sprintf("SQLite returned: %s (%d).", database.Said(e.Message), e.Code)
	switch e.Code {
	case dialect.CodeCantOpen, dialect.CodeIO, dialect.CodePerm, dialect.CodeNotADB, dialect.CodeCorrupt:
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The file %s cannot be read. %s", name, detail), err)
	case dialect.CodeBusy, dialect.CodeLocked:
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The file %s is locked by another process that writes to it. Retry later. %s", name, detail), err)
	case dialect.CodeTooBig:
		return database.Fail(database.ProblemStatement, fmt.Sprintf("A value or a row of %q is larger than %d MiB, the maximum. Leave the field out, or shorten its values in the view. %s", view, dialect.MaxRow>>20, detail), err)
	case dialect.CodeFull:
		return database.Fail(database.ProblemTooMuch, fmt.Sprintf("The query on %q requires more temporary disk space than is available. Filter more rows, or remove grouping and sorting. %s", view, detail), err)
	}
	return database.Fail(database.ProblemStatement, fmt.Sprintf("SQLite refused a query on %q. %s", view, detail), err)
}

// tooLarge is the failure of a value or a row beyond the limits. Columns are those that
// the statement fetches.
func tooLarge(l *dialect.Large, columns []feedmill.Column, cause error) error {
	if l.Column >= 0 && l.Column < len(columns) {
		return database.Fail(database.ProblemStatement, fmt.Sprintf("The value of %q in row %d has %d bytes; the maximum is %d MiB. Leave the field out, or shorten its values in the view.",
			columns[l.Column].Name, l.Row, l.Bytes, dialect.MaxCell>>20), cause)
	}
	return database.Fail(database.ProblemStatement, fmt.Sprintf("Row %d has more than %d MiB, the maximum. Select fewer fields.", l.Row, dialect.MaxRow>>20), cause)
}
