package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

var errTimeout = errors.New("the statement took too long")

// said is an error of DuckDB.
type said interface {
	error
	FailedAt() string
}

// failure says what an error means. Bounded is ctx with the time that there was.
func (f *file) failure(ctx, bounded context.Context, err error, view string) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(bounded), errTimeout):
		return database.Fail(database.ProblemTimeout, fmt.Sprintf("A query on %q took longer than %s, the maximum. Select fewer rows.", view, f.timeout), err)
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && errors.Is(err, feedmill.ErrUnprocessable) {
		return database.Fail(database.ProblemTooMuch, refusal.Detail, err)
	}
	e, ok := errors.AsType[said](err)
	if !ok {
		return err
	}
	text := f.shown(e.Error())
	switch {
	case e.FailedAt() == "open" && strings.Contains(text, "set lock"):
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The file %s is locked by another process that writes to it. Retry when that process has closed it. DuckDB returned: %s", f.name(), text), err)
	case e.FailedAt() == "open":
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The file %s cannot be read. DuckDB returned: %s", f.name(), text), err)
	}
	return database.Fail(database.ProblemStatement, fmt.Sprintf("DuckDB refused a query on %q and returned: %s", view, text), err)
}

// shown is the first line of what DuckDB says, without the path of the file, which
// is the operator's business.
func (f *file) shown(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return database.Said(strings.ReplaceAll(line, f.path, f.name()))
}

// changed says what became of the view where a statement on it failed.
func (t *table) changed(ctx context.Context, cause error) error {
	e, ok := errors.AsType[said](cause)
	if !ok || e.FailedAt() == "open" || ctx.Err() != nil {
		return cause
	}
	now, err := t.again(ctx)
	if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok && (failure.Type == database.ProblemView || failure.Type == database.ProblemSQL) {
		return failure
	}
	if err != nil {
		return cause
	}
	var gone, other []string
	for _, f := range t.Found {
		i := slices.IndexFunc(now.Fields(), func(n database.Field) bool { return n.Name == f.Name })
		switch {
		case i < 0:
			gone = append(gone, `"`+f.Name+`"`)
		case now.Fields()[i].Native != f.Native:
			other = append(other, fmt.Sprintf("%q changed to %s from %s", f.Name, now.Fields()[i].Native, f.Native))
		}
	}
	switch {
	case len(gone) > 0:
		return database.Fail(database.ProblemField, fmt.Sprintf("The view %q no longer has the column %s.", t.View, strings.Join(gone, ", ")), cause)
	case len(other) > 0:
		return database.Fail(database.ProblemField, fmt.Sprintf("The view %q has changed: %s.", t.View, strings.Join(other, ", ")), cause)
	case e.FailedAt() == "guard":
		return database.Fail(database.ProblemField, fmt.Sprintf("The view %q was changed during the read. Retry.", t.View), cause)
	}
	return cause
}
