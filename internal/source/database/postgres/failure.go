package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// failure says what an error of the driver means. The view is empty where it is
// none's.
func (s *server) failure(ctx context.Context, err error, view string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, errTooMuch) {
		return database.TooMuchThere(err)
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
			return database.Fail(database.ProblemUnreachable, fmt.Sprintf("Connecting to %s failed: %s.", s.where(), reason(err)), err)
		}
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The connection to %s was lost: %s.", s.where(), reason(err)), err)
	}
	return database.Fail(problem(refused.Code), s.detail(refused, view), err)
}

// reason is the innermost error, which says what happened and to nobody's secret.
// Of several tries it is that of the last.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if tries, ok := err.(interface{ Unwrap() []error }); ok {
			if all := tries.Unwrap(); len(all) > 0 {
				inner = all[len(all)-1]
			}
		}
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// problem is what a code of the server means.
func problem(code string) string {
	switch code {
	case "42501":
		return database.ProblemPermission
	case "42P01", "3F000":
		return database.ProblemView
	case "42703", "42883", "42804", "42846", "22P02", "XX000":
		return database.ProblemField
	case "57014":
		return database.ProblemTimeout
	case "57P01", "57P02", "57P03", "53300", "3D000":
		return database.ProblemUnreachable
	}
	switch code[:min(2, len(code))] {
	case "28":
		return database.ProblemCredential
	case "08":
		return database.ProblemUnreachable
	}
	return database.ProblemStatement
}

func (s *server) detail(e *pgconn.PgError, view string) string {
	said := fmt.Sprintf("It said: %s (SQLSTATE %s).", e.Message, e.Code)
	switch problem(e.Code) {
	case database.ProblemCredential:
		return fmt.Sprintf("PostgreSQL at %s refused the user %q. %s", s.address, s.user, said)
	case database.ProblemPermission:
		return fmt.Sprintf("The user %q may not read %q. %s", s.user, view, said)
	case database.ProblemView:
		return fmt.Sprintf("There is no view %q in %s any more. %s", view, s.where(), said)
	case database.ProblemField:
		return fmt.Sprintf("The view %q is not what it was when it was described. %s", view, said)
	case database.ProblemTimeout:
		return fmt.Sprintf("A query on %q took longer than %s, which is the most. Ask for fewer rows, or for an index of what is filtered by.", view, s.timeout)
	case database.ProblemUnreachable:
		return fmt.Sprintf("The connection to %s ended or was refused. %s", s.where(), said)
	}
	return fmt.Sprintf("PostgreSQL could not answer a query on %q. %s", view, said)
}
